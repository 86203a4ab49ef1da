package soft

import (
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// hold keeps the bytes of ane.Constants valid while executables read them where they are.
type hold struct {
	users   atomic.Int32
	release func()
	blocks  []*unimem.Block // of mapped files
}

// holds are those of an executable: of its own weights, and of what it shares with the base of an instance.
type holds []*hold

// keep returns what keeps weights valid, with one user; nothing if the engine copies them.
func keep(weights ane.Weights) (holds, error) {
	c, ok := weights.(ane.Constants)
	if !ok {
		return nil, nil
	}
	release, err := c.Hold()
	if err != nil {
		return nil, err
	}
	h := &hold{release: release}
	if m, ok := weights.(ane.Mapped); ok {
		h.blocks = m.Blocks()
	}
	h.users.Store(1)
	return holds{h}, nil
}

// retain adds a user.
func (all holds) retain() {
	for _, h := range all {
		h.users.Add(1)
	}
}

// release removes a user, and gives back what has none.
func (all holds) release() {
	for _, h := range all {
		if h.users.Add(-1) == 0 {
			h.release()
		}
	}
}

// blocks lists the Blocks of mapped files.
func (all holds) blocks() (list []*unimem.Block) {
	for _, h := range all {
		list = append(list, h.blocks...)
	}
	return list
}

// Mapped lists the Blocks of mapped files that a run reads besides its tensors.
func (e *executable) Mapped() []*unimem.Block { return e.holds.blocks() }
