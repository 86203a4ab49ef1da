package unimem

import (
	"cmp"
	"errors"
)

// Layout is the memory of an inference run: three Tapes with different lifetimes. Weights are loaded once, so their
// pages are warm from the start. Scratch is cleared after every pass, history after every conversation. Conversations
// at the same time share Weights: each has a Layout of NewLayoutOn. All methods are safe for concurrent use.
type Layout struct {
	weights, scratch, history *Tape
	own                       []*Tape // all, or all but the weights of another owner
	life                      *life
}

// NewLayout makes the three Tapes; after an error none is open. Sizes are in bytes. The caller closes the Layout, which
// owns the Tapes. Errors are those of Start, also for the sum of the sizes.
func NewLayout(weights, scratch, history int, opts ...Option) (*Layout, error) {
	return newLayout(nil, opts, weights, scratch, history)
}

// NewLayoutOn is NewLayout for a conversation with weights that several Layouts share. The Layout holds the Tape, so
// that its Close returns ErrInUse until Layout.Close, and does not close it. Errors are those of NewLayout, and
// ErrClosed for a closed Tape.
func NewLayoutOn(weights *Tape, scratch, history int, opts ...Option) (l *Layout, err error) {
	if weights == nil || !weights.life.retain() {
		return nil, fail("layout", 0, ErrClosed, "the Tape of weights is closed")
	}
	defer func() {
		if l == nil { // failed, or a function of OnExhausted panicked
			weights.life.release()
		}
	}()
	return newLayout(weights, opts, scratch, history)
}

// newLayout starts Tapes of the sizes, or none. The first has the weights, unless these are of another owner.
func newLayout(weights *Tape, opts []Option, sizes ...int) (l *Layout, err error) {
	c := configure(opts)
	if err := refuse(c, forTape, "layout", sizes[0]); err != nil {
		return nil, err
	}
	if !c.InBlocks {
		if _, err := roundSizes("layout", 1, sizes...); err != nil {
			return nil, err
		}
	}
	l = &Layout{life: new(life)}
	defer func() {
		if len(l.own) < len(sizes) { // failed, or a function of OnExhausted panicked
			_, _ = l.life.end()
			l, err = nil, errors.Join(err, tearDownAll(l.own))
		}
	}()
	for i, size := range sizes {
		warm := c
		warm.Warm = c.Warm || weights == nil && i == 0
		t, err := startTape(size, warm, l.life, true)
		if err != nil {
			return l, err
		}
		l.own = append(l.own, t)
	}
	l.weights = cmp.Or(weights, l.own[0])
	l.scratch, l.history = l.own[len(sizes)-2], l.own[len(sizes)-1]
	return l, nil
}

// Weights is the Tape of what is loaded once.
func (l *Layout) Weights() *Tape {
	if l == nil {
		return nil
	}
	return l.weights
}

// Scratch is the Tape of one pass.
func (l *Layout) Scratch() *Tape {
	if l == nil {
		return nil
	}
	return l.scratch
}

// History is the Tape of one conversation.
func (l *Layout) History() *Tape {
	if l == nil {
		return nil
	}
	return l.history
}

// ClearPass clears Scratch, between passes.
func (l *Layout) ClearPass() { l.Scratch().Clear() }

// ClearTalk clears Scratch and History, between conversations.
func (l *Layout) ClearTalk() {
	l.Scratch().Clear()
	l.History().Clear()
}

// Total is the size of the three Tapes together in bytes.
func (l *Layout) Total() int { return l.Weights().Total() + l.Scratch().Total() + l.History().Total() }

// Close frees the memory, once; repeating it returns nil.
//
// Errors: ErrInUse (a Block of the Layout is retained; Close has changed nothing), ErrRelease.
func (l *Layout) Close() error {
	if l == nil || l.life == nil {
		return nil
	}
	first, err := endLife(l.life, l.Total())
	if !first {
		return err
	}
	if len(l.own) < 3 {
		defer l.weights.life.release()
	}
	return tearDownAll(l.own)
}
