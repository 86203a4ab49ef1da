package trial

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// T is to checks what testing.T is to tests: it collects the checks that a Step makes and closes what they opened. Must
// and NoError end the Step at its first error.
type T struct {
	step.T
	checks []Check
}

// Step makes the checks called Names.
type Step struct {
	Names []string
	Run   func(*T)
}

// Make runs the step. With an error the checks are those made before it.
func (s Step) Make(ctx context.Context) ([]Check, error) {
	t := &T{T: step.T{Ctx: ctx}}
	err := step.Catch(func() { s.Run(t) })
	return t.checks, errors.Join(err, t.Close(ctx))
}

// Scope runs f and closes what it opened.
func (t *T) Scope(f func(*T)) {
	checks, err := Step{Run: f}.Make(t.Ctx)
	t.Add(checks...)
	NoError(err)
}

// NoError ends the step with err, unless that is nil.
func NoError(err error) { step.NoError(err) }

// Must returns v, or ends the step with err.
func Must[V any](v V, err error) V { return step.Must(v, err) }

// Add adds checks that were made.
func (t *T) Add(checks ...Check) { t.checks = append(t.checks, checks...) }

// Measured runs f, which makes the checks called names, and skips them where memory cannot be measured.
func (t *T) Measured(names []string, f func()) {
	err := step.Catch(f)
	if !errors.Is(err, errUnread) {
		NoError(err)
		return
	}
	for _, name := range names {
		t.Add(Skipped(name, "%v", err))
	}
}

// Program returns a program that build writes: as a tree, which an engine prints in its own dialect.
func Program(name string, build func(*mil.FuncBuilder)) ane.Source {
	b := mil.NewBuilder()
	build(b.Func("main"))
	return ane.Source{File: name + ".mil", Program: Must(b.Program())}
}

// model compiles and loads a program.
func (t *T) model(d *ane.Device, src ane.Source) (m *ane.Model, compile, load time.Duration) {
	start := time.Now()
	m = Must(d.Compile(t.Ctx, src))
	compile = time.Since(start)
	t.Later(m.Close)
	start = time.Now()
	NoError(m.Load(t.Ctx))
	return m, compile, time.Since(start)
}

// surface makes a tensor on a Block of size bytes.
func (t *T) surface(size int, l ane.Layout, opts ...unimem.Option) *ane.Tensor {
	b := Must(unimem.Open(size, opts...))
	t.Closing(b.Close)
	return Must(ane.OnBlock(b, l))
}

// bind binds a program with one input and one output.
func (t *T) bind(m *ane.Model, x, y *ane.Tensor) *ane.Request {
	r := Must(m.Bind(map[string]*ane.Tensor{m.Inputs()[0].Name: x}, map[string]*ane.Tensor{m.Outputs()[0].Name: y}))
	t.Closing(r.Close)
	return r
}
