// Package step has code end at its first error, and close what it opened, as package testing does for tests.
package step

import (
	"context"
	"errors"
	"slices"
)

// T is to a step what testing.T is to a test. Must and NoError end the step at its first error.
type T struct {
	Ctx  context.Context
	open []func(context.Context) error
}

// Run runs f, closes what it opened, and returns the error that ended it.
func Run(ctx context.Context, f func(*T)) error {
	t := &T{Ctx: ctx}
	err := Catch(func() { f(t) })
	return errors.Join(err, t.Close(ctx))
}

// stopped is the panic of Must and NoError.
type stopped struct{ error }

// Catch runs f and returns the error that ended it.
func Catch(f func()) (err error) {
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

// Later calls a Close at the end of the step, the last one first. Its context does not end.
func (t *T) Later(closing func(context.Context) error) { t.open = append(t.open, closing) }

// Closing is Later for a Close without a context.
func (t *T) Closing(closing func() error) { t.Later(func(context.Context) error { return closing() }) }

// Close closes what the step opened so far; Run does so at its end.
func (t *T) Close(ctx context.Context) error {
	var errs []error
	for _, closing := range slices.Backward(t.open) {
		errs = append(errs, closing(context.WithoutCancel(ctx)))
	}
	t.open = nil
	return errors.Join(errs...)
}
