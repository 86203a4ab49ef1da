package enginetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anekit/anekit/ane"
)

// waiting checks contexts.
func waiting() []check {
	return []check{
		{"cancelled", "an ended context stops every call with ErrDeadline, and later calls work", cancelled},
		{"cancel-noticed", "an evaluation whose context ends as it begins returns ErrDeadline", cancelNoticed},
		{"deadline", "a deadline in the middle of a long evaluation ends it with ErrDeadline", deadline},
	}
}

// ended checks the error of a call whose context has ended.
func ended(err, cause error) error {
	if !errors.Is(err, ane.ErrDeadline) || !errors.Is(err, cause) {
		return fmt.Errorf("returned %w, want an error that matches ErrDeadline and %w", err, cause)
	}
	return nil
}

func cancelled(e *env) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	d := e.device()
	p := identity(1, 2, 2, 32)
	if m, err := d.Compile(over, p.source()); err == nil {
		e.errorf("Compile works after its context ended")
		e.must(m.Close(e.ctx), "close")
	} else {
		e.must(ended(err, context.Canceled), "Compile")
	}
	m := e.compile(d, p)
	e.must(ended(m.Load(over), context.Canceled), "Load")
	e.need(m.Load(e.ctx), "load")
	r := e.rig(m, p, inBlock())
	_, err := m.Evaluate(over, r.request)
	e.must(ended(err, context.Canceled), "Evaluate")
	if err := m.Unload(over); err != nil { // Unload may also succeed
		e.must(ended(err, context.Canceled), "Unload")
	}
	e.need(m.Load(e.ctx), "load again")
	e.must(r.round(e.ctx, 4), "after cancelled calls")
}

// late is a context that ends at its first use. The Model uses it before it calls the
// engine.
type late struct {
	context.Context
	cancel context.CancelFunc
}

// Err implements context.Context.
func (l *late) Err() error {
	err := l.Context.Err()
	l.cancel()
	return err
}

func cancelNoticed(e *env) {
	d := e.device()
	for _, p := range []*program{identity(1, 2, 2, 32), multiplication(3, 20, 7)} {
		r := e.rig(e.loaded(d, p), p, inBlock())
		ctx, cancel := context.WithCancel(e.ctx)
		_, err := r.model.Evaluate(&late{ctx, cancel}, r.request)
		e.must(ended(err, context.Canceled), "%s", p.name)
		e.must(r.round(e.ctx, 5), "%s after a cancelled run", p.name)
	}
}

// chain multiplies a matrix by itself many times.
func chain(size, links int) *program {
	p := &program{name: "chain", in: []port{half("x", 1, 1, size, size)}, out: []port{half("y", 1, 1, size, size)}}
	from := "x"
	for i := range links {
		to := fmt.Sprintf("y%d", i)
		if i == links-1 {
			to = "y"
		}
		p.body += half(to, 1, 1, size, size).String() +
			fmt.Sprintf(" = matmul(x = %s, y = x, transpose_x = bool(false), transpose_y = bool(false))[name = "+
				"string(%q)];\n", from, to)
		from = to
	}
	return p
}

// shortest is the shortest run that the check can interrupt reliably: many times the
// 10 ms after which Go preempts a loop that delays timers.
const shortest = 150 * time.Millisecond

// patience is the time limit for a call to return after its deadline, on a busy machine.
const patience = time.Minute

// attempts is the number of runs that may finish before their deadline.
const attempts = 5

// deadline gives each run an eighth of the time that the previous one took, until one
// is interrupted. A run cannot become eight times faster five times in a row, so the
// result does not depend on the load of the machine.
func deadline(e *env) {
	var r *rig
	var in [][]float64
	var whole ane.Result
	for links := 4; whole.Elapsed < shortest; links *= 2 {
		if links > 1024 {
			e.skip(fmt.Sprintf("the longest program of the suite takes %v here, too short to interrupt", whole.Elapsed))
		}
		const size = 512
		p := chain(size, links)
		r = e.rig(e.loaded(e.device(), p), p, inBlock())
		in = [][]float64{make([]float64, size*size)}
		e.need(r.fill(in), "inputs")
		var err error
		whole, err = r.model.Evaluate(e.ctx, r.request)
		e.need(err, "evaluate")
	}
	var err error
	for range attempts {
		limit := whole.Elapsed / 8
		ctx, cancel := context.WithTimeout(e.ctx, limit)
		whole, err = r.model.Evaluate(ctx, r.request)
		cancel()
		if err == nil {
			continue
		}
		e.must(ended(err, context.DeadlineExceeded), "Evaluate")
		if whole.Elapsed > limit+patience {
			e.errorf("Evaluate returned after %v, its deadline was %v", whole.Elapsed, limit)
		}
		break
	}
	if err == nil {
		e.errorf("%d runs, each with an eighth of the time of the previous one, returned no error; the last took %v",
			attempts, whole.Elapsed)
	}
	_, err = r.model.Evaluate(e.ctx, r.request)
	e.must(err, "the run after an interrupted one")
	e.must(r.verify(in), "the run after an interrupted one")
}
