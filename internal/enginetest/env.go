package enginetest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// env is the environment of one check. Any goroutine may call its methods, but fatalf,
// need and skip only the goroutine of the check.
type env struct {
	ctx  context.Context
	open func() ane.Engine
	cfg  *config

	mu      sync.Mutex
	texts   []string
	skipped string
	undo    []func() // run in reverse when the check ends
	memory  []func() // run after undo, in reverse
	least   int      // bytes of new surfaces, see wants
}

// perform runs one check in a new goroutine, so that a panic, a hang or a fatal failure
// ends only that check.
func perform(ctx context.Context, c check, open func() ane.Engine, cfg *config) (texts []string, skipped string) {
	ctx, cancel := context.WithTimeout(ctx, cfg.limit)
	defer cancel()
	e := &env{ctx: ctx, open: open, cfg: cfg}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.guarded(e.clean)
		e.guarded(func() { c.run(e) })
	}()
	select {
	case <-done:
	case <-after(ctx, min(grace, cfg.limit)):
		e.errorf("did not return: %v", ctx.Err())
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.texts...), e.skipped
}

// grace is the time that a check has to end after its context has ended.
const grace = 3 * time.Second

// after returns a channel that is closed d after ctx has ended.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { close(over) }) })
	return over
}

// guarded reports a panic as a failure.
func (e *env) guarded(f func()) {
	defer func() {
		if p := recover(); p != nil {
			e.errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	f()
}

// clean closes what the check opened: requests, models and devices, then memory.
func (e *env) clean() {
	e.mu.Lock()
	undo := append(e.memory, e.undo...)
	e.undo, e.memory = nil, nil
	e.mu.Unlock()
	for i := len(undo) - 1; i >= 0; i-- {
		e.guarded(undo[i])
	}
}

func (e *env) errorf(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, fmt.Sprintf(format, args...))
}

// fatalf ends the check.
func (e *env) fatalf(format string, args ...any) {
	e.errorf(format, args...)
	runtime.Goexit()
}

// need ends the check when err is not nil.
func (e *env) need(err error, what string) {
	if err != nil {
		e.fatalf("%s: %v", what, err)
	}
}

// skip ends the check without a verdict.
func (e *env) skip(reason string) {
	e.mu.Lock()
	e.skipped = reason
	e.mu.Unlock()
	runtime.Goexit()
}

func (e *env) later(f func() error, what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.undo = append(e.undo, e.closing(f, what))
}

func (e *env) laterMemory(f func() error, what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.memory = append(e.memory, e.closing(f, what))
}

func (e *env) closing(f func() error, what string) func() {
	return func() {
		if err := f(); err != nil {
			e.errorf("%s: %v", what, err)
		}
	}
}

// device opens the engine as a Device.
func (e *env) device() *ane.Device {
	d, err := ane.Open(e.open(), "")
	e.need(err, "open")
	e.later(d.Close, "closing the device")
	return d
}

// wants makes new surfaces as large as those of m, all of one size, on an engine with
// ane.Info.MinSurface.
func (e *env) wants(d *ane.Device, m *ane.Model) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d.Info().MinSurface == 0 {
		return
	}
	for _, l := range slices.Concat(m.Inputs(), m.Outputs()) {
		e.least = max(e.least, m.SurfaceSize(l, nil))
	}
}

// room returns the size of a new surface for a tensor.
func (e *env) room(l ane.Layout) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return max(l.Bytes(), e.least)
}

// dialect returns text in the dialect of MIL that the engine's compiler reads.
func (e *env) dialect(d *ane.Device, text []byte) []byte {
	to := d.Info().Dialect
	if to == mil.NewText {
		return text
	}
	p, err := mil.Parse("program.mil", text)
	e.need(err, "parse")
	p, err = mil.Convert(p, to)
	e.need(err, "convert to the "+to.String()+" dialect")
	return mil.Print(p)
}

// source returns p as text in that dialect.
func (e *env) source(d *ane.Device, p *program) ane.Source {
	src := p.source()
	src.Text = e.dialect(d, src.Text)
	return src
}

// compile compiles p.
func (e *env) compile(d *ane.Device, p *program) *ane.Model {
	m, err := d.Compile(e.ctx, e.source(d, p))
	e.need(err, "compile "+p.name)
	e.wants(d, m)
	e.later(func() error { return m.Close(context.Background()) }, "closing the model")
	return m
}

// loaded returns p, compiled and loaded.
func (e *env) loaded(d *ane.Device, p *program) *ane.Model {
	m := e.compile(d, p)
	e.need(m.Load(e.ctx), "load "+p.name)
	return m
}
