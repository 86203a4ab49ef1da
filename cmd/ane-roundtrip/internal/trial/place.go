package trial

import "github.com/anekit/anekit/ane"

// place is one side's bytes of a tensor: the caller's own, or those that the engine
// reads and writes, in this process or in another.
type place interface {
	size() int
	load(at int) byte
	store(at int, b byte)
	// frame returns the number of the page frame behind a byte; false when the
	// system does not show it.
	frame(at int) (uint64, bool)
}

// own is memory of this process.
type own []byte

func (o own) size() int            { return len(o) }
func (o own) load(at int) byte     { return o[at] }
func (o own) store(at int, b byte) { o[at] = b }

// seen reports whether a change of a byte of a shows in b, and undoes it.
func seen(a, b place, at int) bool {
	old := a.load(at)
	a.store(at, ^old)
	ok := b.load(at) == ^old
	a.store(at, old)
	return ok && b.load(at) == old
}

// engineSide finds the bytes through which the engine reaches an input or output of
// a request; nil when it cannot show them.
func engineSide(r *ane.Request, t *ane.Tensor, input bool) place {
	name := t.Layout().Name
	view, peer := r.OutputView, r.PeerOutput
	if input {
		view, peer = r.InputView, r.PeerInput
	}
	if v := view(name); v != nil {
		return own(v)
	}
	if pid, address := peer(name); pid != 0 {
		return elsewhere(pid, address+uintptr(t.Offset()), len(t.Bytes()))
	}
	return nil
}
