package unimem

import "errors"

// Layout is the memory of an inference run: three Tapes that live as long as what they
// hold. Weights are loaded once and stay, so their pages are warm from the start. Scratch
// is cleared every pass, history every conversation.
type Layout struct {
	tapes
	life *life
}

// tapes are the parts of a Layout; nil Tapes are empty ones.
type tapes struct{ weights, scratch, history *Tape }

// parts are the Tapes, none of a Layout that was never made.
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

// NewLayout makes the three Tapes, all or none. Sizes are in bytes. Errors as for Start.
func NewLayout(weights, scratch, history int, opts ...Option) (made *Layout, err error) {
	c := configure(opts)
	if err := refuse(c, "layout", weights); err != nil {
		return nil, err
	}
	l := &Layout{life: new(life)}
	defer func() {
		if made == nil { // failed, or left by a panic of a function given to OnExhausted
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

// Weights holds what is loaded once.
func (l *Layout) Weights() *Tape { return l.parts().weights }

// Scratch holds what one pass needs.
func (l *Layout) Scratch() *Tape { return l.parts().scratch }

// History holds what one conversation needs.
func (l *Layout) History() *Tape { return l.parts().history }

// ClearPass frees the scratch, between passes.
func (l *Layout) ClearPass() { l.Scratch().Clear() }

// ClearTalk frees scratch and history, between conversations.
func (l *Layout) ClearTalk() {
	l.Scratch().Clear()
	l.History().Clear()
}

// Total is the size of the three Tapes together in bytes.
func (l *Layout) Total() int {
	p := l.parts()
	return p.weights.Total() + p.scratch.Total() + p.history.Total()
}

// Stat is the present state of the three Tapes.
func (l *Layout) Stat() Stat {
	p := l.parts()
	return Stat{p.weights.stat(), p.scratch.stat(), p.history.stat()}
}

func (t *Tape) stat() TapeStat {
	used := t.Used()
	return TapeStat{t.Total(), used, t.Total() - used}
}

// Close gives the memory back, once; repeating it returns nil. ErrInUse while a Block of
// the Layout is retained: nothing has changed then.
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
	var errs []error
	for _, t := range []*Tape{l.weights, l.scratch, l.history} {
		if t != nil {
			errs = append(errs, t.tearDown())
		}
	}
	return errors.Join(errs...)
}
