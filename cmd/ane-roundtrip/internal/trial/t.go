package trial

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// T is to checks what testing.T is to tests: it collects the checks that a Step makes and closes what they opened. Must
// and NoError end the Step at its first error.
type T struct {
	Ctx    context.Context
	checks []Check
	open   []func(context.Context) error
}

// Step makes the checks called Names.
type Step struct {
	Names []string
	Run   func(*T)
}

// Make runs the step. With an error the checks are those made before it.
func (s Step) Make(ctx context.Context) ([]Check, error) {
	t := &T{Ctx: ctx}
	err := caught(func() { t.Scope(s.Run) })
	return t.checks, err
}

// Scope runs f and closes what it opened.
func (t *T) Scope(f func(*T)) {
	inner := &T{Ctx: t.Ctx}
	err := caught(func() { f(inner) })
	t.checks = append(t.checks, inner.checks...)
	NoError(errors.Join(err, inner.close(t.Ctx)))
}

// stopped is the panic of Must and NoError.
type stopped struct{ error }

// caught runs f and returns the error that ended it.
func caught(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case stopped:
			err = v.error
		default:
			panic(v)
		}
	}()
	f()
	return nil
}

// NoError ends the step with err, unless that is nil.
func NoError(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// Must returns v, or ends the step with err.
func Must[V any](v V, err error) V {
	NoError(err)
	return v
}

// Add adds checks that were made.
func (t *T) Add(checks ...Check) { t.checks = append(t.checks, checks...) }

// Measured runs f, which makes the checks called names, and skips them where memory cannot be measured.
func (t *T) Measured(names []string, f func()) {
	err := caught(f)
	if !errors.Is(err, errUnread) {
		NoError(err)
		return
	}
	for _, name := range names {
		t.Add(Skipped(name, "%v", err))
	}
}

// Later calls a Close at the end of the step, the last one first. Its context does not end.
func (t *T) Later(closing func(context.Context) error) { t.open = append(t.open, closing) }

// Closing is Later for a Close without a context.
func (t *T) Closing(closing func() error) { t.Later(func(context.Context) error { return closing() }) }

func (t *T) close(ctx context.Context) error {
	var errs []error
	for i := len(t.open) - 1; i >= 0; i-- {
		errs = append(errs, t.open[i](context.WithoutCancel(ctx)))
	}
	t.open = nil
	return errors.Join(errs...)
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
