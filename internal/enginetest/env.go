package enginetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/step"
)

// env is the environment of one check. step.Must and step.NoError end the check, which then closes what it opened. Any
// goroutine may call report and expect.
type env struct {
	step.T
	open  func() ane.Engine
	cfg   *config
	least int // bytes of new surfaces, see own

	mu      sync.Mutex
	texts   []string
	skipped string
}

// perform runs one check in a new goroutine, so that a panic, a hang or an error ends only
// that check.
func perform(ctx context.Context, c check, open func() ane.Engine, cfg *config) (texts []string, skipped string) {
	ctx, cancel := context.WithTimeout(ctx, cfg.limit)
	defer cancel()
	e := &env{T: step.T{Ctx: ctx}, open: open, cfg: cfg}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.guarded(func() { e.report(e.Close(ctx), "closing") })
		e.guarded(func() { c.run(e) })
	}()
	select {
	case <-done:
	case <-after(ctx, min(grace, cfg.limit)):
		e.errorf("did not return: %v", ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.texts), e.skipped
}

// grace is the time that a check has to end after its context has ended.
const grace = 3 * time.Second

// after returns a channel that is closed d after ctx has ended.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { close(over) }) })
	return over
}

// errSkipped ends a check without a verdict.
var errSkipped = errors.New("skipped")

// guarded reports a panic of f, and the error that ends it, as failures.
func (e *env) guarded(f func()) {
	defer func() {
		if p := recover(); p != nil {
			e.errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := step.Catch(f); err != nil && !errors.Is(err, errSkipped) {
		e.errorf("%v", err)
	}
}

// skip ends the check without a verdict.
func (e *env) skip(reason string) {
	e.mu.Lock()
	e.skipped = reason
	e.mu.Unlock()
	step.NoError(errSkipped)
}

func (e *env) errorf(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, fmt.Sprintf(format, args...))
}

// report reports an error, with a description of the call.
func (e *env) report(err error, format string, args ...any) {
	if err != nil {
		e.errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// expect reports an error that does not match all of matches.
func (e *env) expect(err error, what string, matches ...error) {
	for _, m := range matches {
		if !errors.Is(err, m) {
			e.errorf("%s returns %v, want %v", what, err, m)
		}
	}
}

// device opens the engine as a Device.
func (e *env) device() *ane.Device {
	d := step.Must(ane.Open(e.open(), ""))
	e.Closing(d.Close)
	return d
}

// own closes m at the end of the check. On an engine with ane.Info.MinSurface new surfaces are from now on as large as
// those of m, all of one size.
func (e *env) own(d *ane.Device, m *ane.Model) *ane.Model {
	e.Later(m.Close)
	if d.Info().MinSurface > 0 {
		for _, l := range slices.Concat(m.Inputs(), m.Outputs()) {
			e.least = max(e.least, m.SurfaceSize(l, nil))
		}
	}
	return m
}

// source returns p as text in the dialect of MIL that the engine's compiler reads.
func source(d *ane.Device, p *program) ane.Source {
	return ane.Source{File: p.name + ".mil", Text: mil.Print(step.Must(mil.Convert(p.Program.Program, d.Info().Dialect))),
		Weights: p.Weights}
}

// compile compiles p.
func (e *env) compile(d *ane.Device, p *program) *ane.Model {
	return e.own(d, step.Must(d.Compile(e.Ctx, source(d, p))))
}

// loaded returns p, compiled and loaded.
func (e *env) loaded(d *ane.Device, p *program) *ane.Model { return e.load(e.compile(d, p)) }

// load loads m.
func (e *env) load(m *ane.Model) *ane.Model {
	step.NoError(m.Load(e.Ctx))
	return m
}
