package trial

import "github.com/anekit/anekit/ane"

// view is the bytes of a tensor as the caller or the engine maps them, in this process or in another.
type view interface {
	size() int
	load(at int) byte
	store(at int, b byte)
	// frame returns the number of the page frame of a byte; false if the system does not show it.
	frame(at int) (uint64, bool)
}

// local is memory of this process.
type local []byte

func (l local) size() int            { return len(l) }
func (l local) load(at int) byte     { return l[at] }
func (l local) store(at int, b byte) { l[at] = b }

// sharesByte reports whether b sees a change of a byte of a. It undoes the change.
func sharesByte(a, b view, at int) bool {
	old := a.load(at)
	a.store(at, ^old)
	ok := b.load(at) == ^old
	a.store(at, old)
	return ok && b.load(at) == old
}

// engineSide returns the engine's view of an input or output of a request; nil if the engine does not
// expose it.
func engineSide(r *ane.Request, t *ane.Tensor, input bool) view {
	name := t.Layout().Name
	mapped, peer := r.OutputView, r.PeerOutput
	if input {
		mapped, peer = r.InputView, r.PeerInput
	}
	if v := mapped(name); v != nil {
		return local(v)
	}
	if pid, address := peer(name); pid != 0 {
		return remoteView(pid, address+uintptr(t.Offset()), len(t.Bytes()))
	}
	return nil
}
