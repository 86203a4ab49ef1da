package unimem

import "errors"

// Layout is the memory of an inference run: three Tapes with different lifetimes. Weights
// are loaded once, so their pages are warm from the start. Scratch is cleared after every
// pass, history after every conversation.
type Layout struct {
	tapes
	life *life
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

// NewLayout makes the three Tapes; after an error none is open. Sizes are in bytes. Errors
// are those of Start, also for the sum of the sizes.
func NewLayout(weights, scratch, history int, opts ...Option) (made *Layout, err error) {
	c := configure(opts)
	if err := refuse(c, "layout", weights); err != nil {
		return nil, err
	}
	if err := checkSum("layout", weights, scratch, history); err != nil {
		return nil, err
	}
	l := &Layout{life: new(life)}
	defer func() {
		if made == nil { // failed, or a function of OnExhausted panicked
			_, _ = l.life.end()
			err = errors.Join(err, l.tearDown())
		}
	}()
	for _, part := range []struct {
		tape **Tape
		size int
		warm bool
	}{{&l.weights, weights, true}, {&l.scratch, scratch, c.Warm}, {&l.history, history, c.Warm}} {
		own := c
		own.Warm = part.warm
		t, err := startTape(part.size, own, l.life, true)
		if err != nil {
			return nil, err
		}
		*part.tape = t
	}
	return l, nil
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

// Close frees the memory, once; repeating it returns nil. The error is ErrInUse while a
// Block of the Layout is retained; then Close changes nothing.
func (l *Layout) Close() error {
	if l == nil || l.life == nil {
		return nil
	}
	first, err := endLife(l.life, l.Total())
	if !first {
		return err
	}
	return l.tearDown()
}

func (l *Layout) tearDown() error {
	var parts []part
	for _, t := range []*Tape{l.weights, l.scratch, l.history} {
		if t != nil {
			parts = append(parts, t)
		}
	}
	return tearDownAll(parts)
}
