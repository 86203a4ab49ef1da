package enginetest

import (
	"context"
	"fmt"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/step"
)

// waiting checks contexts.
func waiting() []check {
	return []check{
		{"cancelled", "an ended context stops every call with ErrDeadline, and later calls work", cancelled},
		{"cancel-noticed", "an evaluation whose context ends as it begins returns ErrDeadline", cancelNoticed},
		{"deadline", "a deadline in the middle of a long evaluation ends it with ErrDeadline", deadline},
	}
}

// over returns a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// cancelledBy checks the error of a call whose context was cancelled.
func (e *env) cancelledBy(err error, what string) {
	e.expect(err, what+" after its context ended", ane.ErrDeadline, context.Canceled)
}

func cancelled(e *env) {
	d, p := e.device(), identity(1, 2, 2, 32)
	m, err := d.Compile(over(), source(d, p))
	if err == nil {
		e.Later(m.Close)
	}
	e.cancelledBy(err, "Compile")
	m = e.compile(d, p)
	e.cancelledBy(m.Load(over()), "Load")
	r := e.rig(e.load(m), p, inBlock())
	e.cancelledBy(r.run(over()), "Evaluate")
	if err := m.Unload(over()); err != nil { // Unload may also succeed
		e.cancelledBy(err, "Unload")
	}
	e.load(m)
	e.report(r.round(e.Ctx, 4), "after cancelled calls")
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
		r := e.fresh(d, p, inBlock())
		ctx, cancel := context.WithCancel(e.Ctx)
		e.cancelledBy(r.run(&late{ctx, cancel}), "Evaluate of "+p.name)
		e.report(r.round(e.Ctx, 5), "%s after a cancelled run", p.name)
	}
}

// chain multiplies a matrix by itself many times.
func chain(size, links int) *program {
	return made("chain", func(f *build.Func) {
		x := f.Input("x", mil.FP16, 1, 1, size, size)
		for range links {
			x = f.Matmul(x, x)
		}
		f.Output("y", x)
	}, nil)
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
	const size = 512
	zeros := [][]float64{make([]float64, size*size)}
	var r *rig
	var whole ane.Result
	for links := 4; whole.Elapsed < shortest; links *= 2 {
		if links > 1024 {
			e.skip(fmt.Sprintf("the longest program of the suite takes %v here, too short to interrupt", whole.Elapsed))
		}
		r = e.fresh(e.device(), chain(size, links), inBlock())
		step.NoError(r.fill(zeros))
		whole = step.Must(r.model.Evaluate(e.Ctx, r.request))
	}
	var err error
	for range attempts {
		limit := whole.Elapsed / 8
		ctx, cancel := context.WithTimeout(e.Ctx, limit)
		whole, err = r.model.Evaluate(ctx, r.request)
		cancel()
		if err == nil {
			continue
		}
		e.expect(err, "Evaluate after its deadline", ane.ErrDeadline, context.DeadlineExceeded)
		if whole.Elapsed > limit+patience {
			e.errorf("Evaluate returned after %v, its deadline was %v", whole.Elapsed, limit)
		}
		break
	}
	if err == nil {
		e.errorf("%d runs, each with an eighth of the time of the previous one, returned no error; the last took %v",
			attempts, whole.Elapsed)
	}
	e.report(r.run(e.Ctx), "the run after an interrupted one")
	e.report(r.verify(zeros), "the run after an interrupted one")
}
