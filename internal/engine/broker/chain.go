package broker

import (
	"context"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

var _ ane.Chainer = (*engine)(nil)

// EvaluateChain implements ane.Chainer. One frame goes to the broker and one comes back,
// however many steps there are. The error matches ErrDenied where the broker's policy does not
// grant driverabi.EntitlementDataChaining, which a private broker does; ErrDeadline when ctx
// ended first; ErrForeign for an invocation of another engine.
func (e *engine) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	if len(steps) == 0 || len(steps) > wire.MaxSteps {
		return &ane.Error{Op: "chain", Engine: Name, Err: ane.ErrLength, Detail: fmt.Sprintf("%d requests", len(steps)),
			Hint: fmt.Sprintf("submit 1 to %d at a time", wire.MaxSteps)}
	}
	r := evaluation{op: "chain", name: e.options.Path, pending: newPending()}
	for i, step := range steps {
		v, ok := step.(*invocation)
		if !ok || v.exec.engine != e {
			return &ane.Error{Op: "chain", Engine: Name, Name: fmt.Sprintf("step %d of %d", i+1, len(steps)),
				Err: ane.ErrForeign, Hint: "submit requests of this engine"}
		}
		r.steps = append(r.steps, v)
		if !slices.Contains(r.requests, v) {
			r.requests = append(r.requests, v)
		}
	}
	return r.evaluate(ctx)
}
