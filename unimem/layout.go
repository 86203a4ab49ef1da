package unimem

import "errors"

// Layout is the memory of an inference run: three Tapes with different lifetimes. Weights are loaded once, so their
// pages are warm from the start. Scratch is cleared after every pass, history after every conversation. Conversations
// at the same time share Weights: each has a Layout of NewLayoutOn. All methods are safe for concurrent use.
type Layout struct {
	tapes
	life   *life
	shared bool // Weights is of another owner
}

// tapes are the parts of a Layout; nil Tapes are empty ones.
type tapes struct{ weights, scratch, history *Tape }

// parts returns the Tapes, nil for the zero Layout and nil.
func (l *Layout) parts() tapes {
	if l == nil {
		return tapes{}
	}
	return l.tapes
}

// TapeStat is the state of one Tape in bytes.
type TapeStat struct{ Total, Used, Free int }

// Stat is the state of a Layout in bytes.
type Stat struct{ Weights, Scratch, History TapeStat }

// NewLayout makes the three Tapes; after an error none is open. Sizes are in bytes. The caller closes the Layout, which
// owns the Tapes. Errors are those of Start, also for the sum of the sizes.
func NewLayout(weights, scratch, history int, opts ...Option) (*Layout, error) {
	l, c := &Layout{life: new(life)}, configure(opts)
	err := l.start(c, []starting{{&l.weights, weights, true}, {&l.scratch, scratch, c.Warm},
		{&l.history, history, c.Warm}})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// NewLayoutOn is NewLayout for a conversation with weights that several Layouts share. The Layout holds the Tape, so
// that its Close returns ErrInUse until Layout.Close, and does not close it. Errors are those of NewLayout, and
// ErrClosed for a closed Tape.
func NewLayoutOn(weights *Tape, scratch, history int, opts ...Option) (*Layout, error) {
	c := configure(opts)
	if !weights.life().retain() {
		return nil, fail("layout", 0, ErrClosed, "the Tape of weights is closed")
	}
	l := &Layout{life: new(life), shared: true}
	if err := l.start(c, []starting{{&l.scratch, scratch, c.Warm}, {&l.history, history, c.Warm}}); err != nil {
		weights.life().release()
		return nil, err
	}
	l.weights = weights
	return l, nil
}

// starting is a Tape that a Layout starts.
type starting struct {
	tape **Tape
	size int
	warm bool
}

// start starts Tapes, or none.
func (l *Layout) start(c config, tapes []starting) (err error) {
	sizes := make([]int, len(tapes))
	for i, r := range tapes {
		sizes[i] = r.size
	}
	if err := refuseTape(c, "layout", sizes[0]); err != nil {
		return err
	}
	if !c.InBlocks {
		if err := checkSum("layout", 1, sizes...); err != nil {
			return err
		}
	}
	started := false
	defer func() {
		if !started { // failed, or a function of OnExhausted panicked
			_, _ = l.life.end()
			err = errors.Join(err, l.tearDown())
		}
	}()
	for _, r := range tapes {
		own := c
		own.Warm = r.warm
		if *r.tape, err = startTape(r.size, own, l.life, true); err != nil {
			return err
		}
	}
	started = true
	return nil
}

// Weights is the Tape of what is loaded once.
func (l *Layout) Weights() *Tape { return l.parts().weights }

// Scratch is the Tape of one pass.
func (l *Layout) Scratch() *Tape { return l.parts().scratch }

// History is the Tape of one conversation.
func (l *Layout) History() *Tape { return l.parts().history }

// ClearPass clears Scratch, between passes.
func (l *Layout) ClearPass() { l.Scratch().Clear() }

// ClearTalk clears Scratch and History, between conversations.
func (l *Layout) ClearTalk() {
	l.Scratch().Clear()
	l.History().Clear()
}

// Total is the size of the three Tapes together in bytes.
func (l *Layout) Total() int {
	p := l.parts()
	return p.weights.Total() + p.scratch.Total() + p.history.Total()
}

// Stat returns the state of the three Tapes.
func (l *Layout) Stat() Stat {
	p := l.parts()
	return Stat{p.weights.stat(), p.scratch.stat(), p.history.stat()}
}

func (t *Tape) stat() TapeStat {
	used := t.Used()
	return TapeStat{t.Total(), used, t.Total() - used}
}

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
	if l.shared {
		defer l.weights.life().release()
	}
	return l.tearDown()
}

func (l *Layout) tearDown() error {
	var parts []*Tape
	for _, t := range []*Tape{l.weights, l.scratch, l.history} {
		if t != nil && !(l.shared && t == l.weights) {
			parts = append(parts, t)
		}
	}
	return tearDownAll(parts)
}
