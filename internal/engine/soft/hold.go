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

// guard calls f, which reads the weights, and returns an error of unimem.ErrChanged if a file has become shorter.
func (all holds) guard(f func() error) error {
	var blocks []*unimem.Block
	for _, h := range all {
		blocks = append(blocks, h.blocks...)
	}
	if len(blocks) == 0 {
		return f()
	}
	return unimem.Guard(f, blocks...)
}

// Mapped lists the Blocks of mapped files that a run reads besides its tensors.
func (e *executable) Mapped() []*unimem.Block {
	var all []*unimem.Block
	for _, h := range e.holds {
		all = append(all, h.blocks...)
	}
	return all
}
