// Package access shows how an engine accesses the tensors of a request, for checks that no copy is made. It shows the
// engine's own mapping, or the addresses in the engine's process, and the bytes of the connection to that process.
package access

import (
	"slices"

	"github.com/anekit/anekit/ane"
)

// Viewer is an ane.Invocation that has the engine's own mapping of the tensors in this process.
type Viewer interface {
	// InputView and OutputView return tensor i in the engine's mapping, nil without one.
	InputView(i int) []byte
	OutputView(i int) []byte
}

// Peer is an ane.Invocation of an engine in another process.
type Peer interface {
	// Peer returns the process, and the address there of the first byte of each input's and output's surface.
	Peer() (pid int, inputs, outputs []uintptr)
}

// Metered is an ane.Engine in another process, which counts the bytes of its connection.
type Metered interface {
	// Traffic returns the bytes sent and received so far; ok is false if the engine is in this process.
	Traffic() (sent, received int64, ok bool)
}

// Side is the inputs or the outputs of a request.
type Side bool

// The sides of a request.
const (
	Output Side = false
	Input  Side = true
)

// View returns the engine's own mapping of the input or output called name. It returns nil if the engine has none in
// this process, while the request is in flight, and after Close.
func View(r *ane.Request, side Side, name string) (view []byte) {
	inspect(r, side, name, func(run ane.Invocation, i int) {
		v, ok := run.(Viewer)
		switch {
		case !ok:
		case side == Input:
			view = v.InputView(i)
		default:
			view = v.OutputView(i)
		}
	})
	return view
}

// Address returns the process of the engine, and the address there of the surface of the input or output called name.
// pid is 0 for an engine in this process, while the request is in flight, and after Close.
func Address(r *ane.Request, side Side, name string) (pid int, address uintptr) {
	inspect(r, side, name, func(run ane.Invocation, i int) {
		p, ok := run.(Peer)
		if !ok {
			return
		}
		process, in, out := p.Peer()
		all := out
		if side == Input {
			all = in
		}
		if i < len(all) {
			pid, address = process, all[i]
		}
	})
	return pid, address
}

// inspect calls f with the index of an input or output, if the request is open, idle and has it.
func inspect(r *ane.Request, side Side, name string, f func(run ane.Invocation, i int)) {
	_ = r.Inspect(func(m *ane.Model, run ane.Invocation) { // without a view in every case
		layouts := m.Outputs()
		if side == Input {
			layouts = m.Inputs()
		}
		if i := slices.IndexFunc(layouts, func(l ane.Layout) bool { return l.Name == name }); i >= 0 {
			f(run, i)
		}
	})
}

// Traffic returns the bytes sent to the engine's process and received from it, and false for an engine in this process.
func Traffic(d *ane.Device) (sent, received int64, ok bool) {
	if m, metered := d.Engine().(Metered); metered {
		return m.Traffic()
	}
	return 0, 0, false
}
