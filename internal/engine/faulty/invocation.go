package faulty

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/wrap"
	"github.com/anekit/anekit/internal/step"
)

type invocation struct {
	wrap.Invocation
	engine  *engine
	in, out []*ane.Tensor // the caller's, in the order of the program
	run     run           // nil for the honest evaluation
	runs    int           // evaluations before the present one
	results [][]byte      // of the evaluation before, for stale
	after   step.T        // closes what prepare opened
}

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
	evaluate := v.run
	if evaluate == nil {
		evaluate = func(ctx context.Context, v *invocation) error { return v.Invocation.Evaluate(ctx) }
	}
	err := evaluate(ctx, v)
	if damage := v.engine.fault.damage; err == nil && damage != nil {
		err = damage(v)
		v.runs++
	}
	return v.engine.reported(err)
}

// Close implements ane.Invocation.
func (v *invocation) Close() error {
	v.after.Closing(v.Invocation.Close)
	return v.after.Close(context.Background())
}
