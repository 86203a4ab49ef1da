package ane

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/anekit/anekit/unimem"
)

// Request binds tensors to the inputs and outputs of a Model, by name: new surfaces of
// Model.NewRequest, or tensors of the caller by Model.Bind. It holds their Blocks until
// Close. One goroutine at a time may use a Request; a Pool lends requests to many.
type Request struct {
	model *Model
	run   Invocation
	in    []*Tensor // in the order of Model.Inputs
	out   []*Tensor
	held  int             // number of Blocks of in, then out, that are retained
	files []*unimem.Block // of mapped files, which other processes can make shorter
	busy  atomic.Int32

	own  []*unimem.Block // made by NewRequest, freed by Close
	pool *Pool           // owner of the request, or nil
	lent atomic.Bool     // the pool has lent the request
	qos  QoS             // 0 if not set
}

// States of a Request.
const (
	idle int32 = iota
	flying
	shut
)

// Bind makes a Request of tensors of the caller; NewRequest makes one of new tensors. The
// Model has to be loaded. in and out map the program's names to tensors: one for every
// input and output, with the program's layout. Bind reports all mismatches at once.
//
// Errors, joined: ErrUnbound (no tensor for a name), ErrName (a name that the program does not have), ErrMismatch,
// ErrShort, ErrOffset and ErrAligned (the tensor's layout or place), ErrReadOnly and ErrAlias (an output), ErrStale;
// ErrNotLoaded or ErrClosed for the Model, and those of the engine.
func (m *Model) Bind(in, out map[string]*Tensor) (*Request, error) {
	m = orZero(m)
	if !m.gate.enter() {
		return nil, m.notReady("bind")
	}
	defer m.gate.leave()
	var faults []error
	r := &Request{model: m}
	r.in = m.match("input", m.in, in, &faults)
	r.out = m.match("output", m.out, out, &faults)
	for i, t := range r.out {
		if t != nil && t.block.ReadOnly() {
			faults = append(faults, &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(len(m.in) + i),
				Err: ErrReadOnly, Hint: "bind outputs to memory of their own"})
		}
	}
	m.aliases(r, &faults)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for i, t := range r.tensors() {
		if err := t.block.Retain(); err != nil {
			r.release()
			return nil, &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(i), Err: err}
		}
		r.held++
		if t.block.Backing() == "file" && !slices.Contains(r.files, t.block) {
			r.files = append(r.files, t.block)
		}
	}
	if own, ok := m.exec.(interface{ Mapped() []*unimem.Block }); ok {
		r.files = append(r.files, own.Mapped()...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	run, err := m.exec.Prepare(r.in, r.out)
	if err != nil {
		r.release()
		return nil, err
	}
	r.run = run
	m.requests++
	return r, nil
}

// match finds the tensor of each layout, or nil if none fits. It reports missing tensors,
// unknown names and wrong layouts.
func (m *Model) match(what string, want []Layout, given map[string]*Tensor, faults *[]error) []*Tensor {
	note := func(name string, fault Error) {
		fault.Op, fault.Engine, fault.Name = "bind", m.device.info.Name, what+" "+name
		*faults = append(*faults, &fault)
	}
	found := make([]*Tensor, len(want))
	for i, l := range want {
		t := given[l.Name]
		if t == nil {
			note(l.Name, Error{Err: ErrUnbound, Hint: "bind a tensor of layout " + l.String()})
			continue
		}
		before := len(*faults)
		for _, fault := range t.unfit(l, m.device.info.Offsets) {
			note(l.Name, fault)
		}
		if len(*faults) == before {
			found[i] = t
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(want, func(l Layout) bool { return l.Name == name }) {
			note(name, Error{Err: ErrName, Hint: "the program has " + names(want)})
		}
	}
	return found
}

// unfit returns the reasons why t cannot be bound to l.
func (t *Tensor) unfit(l Layout, offsets bool) []Error {
	if t.fault != nil {
		return []Error{*t.fault}
	}
	if t.Bytes() == nil {
		return []Error{{Err: ErrStale, Hint: "bind before the memory is closed or returned"}}
	}
	var faults []Error
	const hint = "make the tensor with the layout of the Model"
	switch have := t.layout; {
	case have.Equal(l) && t.size >= l.Bytes():
	case t.size < l.Bytes():
		faults = append(faults, Error{Err: ErrShort, Hint: hint,
			Detail: fmt.Sprintf("program needs %d bytes (%s), tensor has %d (%s)", l.Bytes(), l, t.size, have)})
	default:
		faults = append(faults, Error{Err: ErrMismatch, Hint: hint,
			Detail: fmt.Sprintf("program has %s, tensor %s", l, have)})
	}
	if t.offset != 0 && !offsets {
		faults = append(faults, Error{Err: ErrOffset,
			Detail: fmt.Sprintf("starts at byte %d of its surface", t.offset),
			Rule:   "the engine reads every surface from byte 0",
			Hint:   "take the cell from a Grid made with unimem.SurfacePerCell(), or make the tensor on its own Block"})
	} else if t.offset%RowAlign != 0 {
		faults = append(faults, Error{Err: ErrAligned,
			Detail: fmt.Sprintf("starts at byte %d of its surface", t.offset),
			Hint:   fmt.Sprintf("engines take tensors at multiples of %d bytes", RowAlign)})
	}
	return faults
}

// aliases reports outputs that share bytes with an input or another output.
func (m *Model) aliases(r *Request, faults *[]error) {
	all := r.tensors()
	for i := len(m.in); i < len(all); i++ {
		for j, u := range all[:i] {
			if t := all[i]; t != nil && u != nil && t.overlaps(u) {
				*faults = append(*faults, &Error{Op: "bind", Engine: m.device.info.Name, Name: m.port(i), Err: ErrAlias,
					Detail: "with " + m.port(j), Hint: "use separate memory for every output"})
			}
		}
	}
}

// port returns the program's name of tensor i of a request.
func (m *Model) port(i int) string {
	if i < len(m.in) {
		return "input " + m.in[i].Name
	}
	return "output " + m.out[i-len(m.in)].Name
}

// tensors returns inputs, then outputs.
func (r *Request) tensors() []*Tensor { return slices.Concat(r.in, r.out) }

// take marks the request as in flight, and checks that its memory is valid.
func (r *Request) take() error {
	if !r.busy.CompareAndSwap(idle, flying) {
		if r.busy.Load() == shut {
			return r.model.fail("evaluate", ErrClosed, "", "bind a new request")
		}
		return r.model.fail("evaluate", ErrBusy, "", "bind one request for each goroutine")
	}
	for i := range len(r.in) + len(r.out) {
		if r.tensor(i).Bytes() == nil {
			r.busy.Store(idle)
			return &Error{Op: "evaluate", Engine: r.model.device.info.Name, Name: r.model.port(i), Err: ErrStale,
				Hint: "close the request before closing its memory, returning its cells or clearing its tapes"}
		}
	}
	return nil
}

// tensor returns element i of tensors without allocating.
func (r *Request) tensor(i int) *Tensor {
	if i < len(r.in) {
		return r.in[i]
	}
	return r.out[i-len(r.in)]
}

// Inspect calls f with the Model and with what the engine has prepared, for evidence of how the engine works, such as
// an interface of its own that run implements. f neither evaluates nor closes run, and does not keep it. The error is
// ErrBusy while the request is in flight, ErrClosed after Close.
func (r *Request) Inspect(f func(m *Model, run Invocation)) error {
	r = orZero(r)
	switch {
	case r.run == nil || r.busy.Load() == shut:
		return orZero(r.model).fail("inspect", ErrClosed, "the request is closed", "")
	case !r.busy.CompareAndSwap(idle, flying):
		return r.model.fail("inspect", ErrBusy, "", "wait for the run to end")
	}
	defer r.busy.Store(idle)
	f(r.model, r.run)
	return nil
}

// Close releases the tensors and frees the surfaces of NewRequest; ErrBusy while the
// request is in flight, ErrInUse for a request of a Pool. Repeated calls do nothing. A
// surface that an abandoned run or another Request still uses is freed by a later Close
// of a Request or of the Device.
func (r *Request) Close() error {
	r = orZero(r)
	if r.pool != nil {
		return r.model.fail("close", ErrInUse, "the request belongs to a Pool", "return it by Put, and close the Pool")
	}
	return r.close()
}

func (r *Request) close() error {
	if r.model == nil {
		return nil
	}
	if !r.busy.CompareAndSwap(idle, shut) {
		if r.busy.Load() == shut {
			return nil
		}
		return r.model.fail("close", ErrBusy, "", "wait for Evaluate to return")
	}
	err := r.run.Close()
	r.release()
	if r.own != nil {
		err = errors.Join(err, r.model.device.free(r.own))
		r.own = nil
	}
	r.model.mu.Lock()
	defer r.model.mu.Unlock()
	r.model.requests--
	return err
}

// release releases the retained Blocks.
func (r *Request) release() {
	for _, t := range r.tensors()[:r.held] {
		t.block.Release()
	}
	r.held = 0
}
