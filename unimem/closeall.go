package unimem

import "slices"

// CloseAll closes Blocks together: all of them, or none if one is retained (ErrInUse) or
// owned by a Tape, Grid or Layout. Blocks that are closed already, and nil, do not matter. A
// Retain of one of the Blocks at the same time may be refused with ErrClosed although CloseAll
// closes none.
func CloseAll(blocks ...*Block) error {
	for _, b := range blocks {
		if b != nil && b.owned && !b.life.closed() {
			return &Error{Op: "close", Size: b.size(), Err: ErrInUse,
				Hint: "close the Tape, Grid or Layout that owns the Block"}
		}
	}
	ending := make([]part, 0, len(blocks))
	for _, b := range blocks {
		if b == nil {
			continue
		}
		first, err := endLife(b.life, b.size())
		if err != nil {
			for _, p := range ending {
				p.(*Block).life.holders.Store(0)
			}
			return err
		}
		if first {
			ending = append(ending, b)
		}
	}
	return tearDownAll(ending)
}

// RetainAll retains every Block until release is called, once. The error is that of Retain for a closed Block; then none
// is retained.
func RetainAll(blocks ...*Block) (release func(), err error) {
	for i, b := range blocks {
		if err := b.Retain(); err != nil {
			releaseAll(blocks[:i])
			return nil, err
		}
	}
	blocks = slices.Clone(blocks)
	return func() { releaseAll(blocks) }, nil
}

func releaseAll(blocks []*Block) {
	for _, b := range blocks {
		b.Release()
	}
}
