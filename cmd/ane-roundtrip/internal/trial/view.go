package trial

import (
	"context"

	"github.com/anekit/anekit/ane"
)

// view is the bytes of a tensor as the caller or the engine maps them, in this process or in another.
type view interface {
	size() int
	// frame returns the number of the page frame of a byte; false if the system does not show it.
	frame(at int) (uint64, bool)
}

// accessible is a view that can be read and written.
type accessible interface {
	view
	load(at int) byte
	store(at int, b byte)
}

// local is memory of this process.
type local []byte

func (l local) size() int            { return len(l) }
func (l local) load(at int) byte     { return l[at] }
func (l local) store(at int, b byte) { l[at] = b }

// sharesByte reports whether b sees a change of a byte of a. It undoes the change. Where one of them is reported, it
// compares what is mapped.
func sharesByte(from, to view, at int) bool {
	for _, pair := range [][2]view{{from, to}, {to, from}} {
		if r, ok := pair[0].(*reported); ok {
			l, here := pair[1].(local)
			return here && r.shares(l, at)
		}
	}
	a, b := from.(accessible), to.(accessible)
	old := a.load(at)
	a.store(at, ^old)
	ok := b.load(at) == ^old
	a.store(at, old)
	return ok && b.load(at) == old
}

// engineSide returns the engine's view of an input or output of a request; nil if the engine does not
// expose it. Memory of another process is read where the system permits it, and is else what that process reports.
func engineSide(ctx context.Context, r *ane.Request, t *ane.Tensor, input bool) view {
	name := t.Layout().Name
	mapped, peer := r.OutputView, r.PeerOutput
	if input {
		mapped, peer = r.InputView, r.PeerInput
	}
	if v := mapped(name); v != nil {
		return local(v)
	}
	if pid, address := peer(name); pid != 0 {
		if v := remoteView(pid, address+uintptr(t.Offset()), len(t.Bytes())); v != nil {
			return v
		}
	}
	return reportedView(ctx, r, t, input)
}
