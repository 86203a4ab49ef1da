package faulty

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/wrap"
)

// run is a faulty evaluation. v.Invocation is the honest one.
type run func(ctx context.Context, v *invocation) error

type invocation struct {
	wrap.Invocation
	engine  *engine
	in, out []*ane.Tensor // the caller's, in the order of the program
	run     run           // nil if the fault does not change evaluation
	after   []func() error
}

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
	if v.run == nil {
		return v.engine.reported(v.Invocation.Evaluate(ctx))
	}
	return v.engine.reported(v.run(ctx, v))
}

// Close implements ane.Invocation.
func (v *invocation) Close() error {
	errs := []error{v.Invocation.Close()}
	for _, f := range v.after {
		errs = append(errs, f())
	}
	v.after = nil
	return errors.Join(errs...)
}

// spoiled returns a run that calls damage after an honest run. n is the number of
// the run, from 0.
func spoiled(damage func(v *invocation, n int) error) func() run {
	return func() run {
		n := -1
		return func(ctx context.Context, v *invocation) error {
			if err := v.Invocation.Evaluate(ctx); err != nil {
				return err
			}
			n++
			return damage(v, n)
		}
	}
}
