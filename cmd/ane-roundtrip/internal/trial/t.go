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

// NamesOf lists the checks that steps make.
func NamesOf(steps []Step) (names []string) {
	for _, s := range steps {
		names = append(names, s.Names...)
	}
	return names
}

// Make makes the steps of which wanted selects a check. It ends at an error of one, unless failed makes checks of that.
func Make(ctx context.Context, steps []Step, wanted func(names ...string) bool, failed func(Step, error) []Check) (
	checks []Check, err error) {
	for _, s := range steps {
		if !wanted(s.Names...) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return checks, err
		}
		made, err := s.Make(ctx)
		if err != nil && failed != nil && ctx.Err() == nil {
			made, err = failed(s, err), nil
		}
		checks = append(checks, made...)
		if err != nil {
			return checks, err
		}
	}
	return checks, nil
}

// Make runs the step. With an error the checks are those made before it. Where memory cannot be measured it skips the
// checks called Names.
func (s Step) Make(ctx context.Context) ([]Check, error) {
	t := &T{T: step.T{Ctx: ctx}}
	err := step.Catch(func() { s.Run(t) })
	if err = errors.Join(err, t.Close(ctx)); !errors.Is(err, errUnread) {
		return t.checks, err
	}
	for _, name := range s.Names {
		t.Add(Skipped(name, "%v", err))
	}
	return t.checks, nil
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

// Program returns a program that build writes: as a tree, which an engine prints in its own dialect.
func Program(name string, build func(*mil.FuncBuilder)) ane.Source {
	b := mil.NewBuilder()
	build(b.Func("main"))
	return ane.Source{File: name + ".mil", Program: Must(b.Program())}
}

// load compiles and loads a program.
func load(t *step.T, d *ane.Device, src ane.Source) (m *ane.Model, compile, load time.Duration) {
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
