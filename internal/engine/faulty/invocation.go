package faulty

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
)

// run is a faulty evaluation. v.Invocation is the honest one.
type run func(ctx context.Context, v *invocation) error

type invocation struct {
	ane.Invocation
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

// InputView implements ane.Viewer with the view of the wrapped engine, or nil if it
// has none.
func (v *invocation) InputView(i int) []byte {
	if w, ok := v.Invocation.(ane.Viewer); ok {
		return w.InputView(i)
	}
	return nil
}

// OutputView implements ane.Viewer.
func (v *invocation) OutputView(i int) []byte {
	if w, ok := v.Invocation.(ane.Viewer); ok {
		return w.OutputView(i)
	}
	return nil
}

// Peer implements ane.Peer with the peer of the wrapped engine. The process is 0 if
// it is this one.
func (v *invocation) Peer() (pid int, inputs, outputs []uintptr) {
	if w, ok := v.Invocation.(ane.Peer); ok {
		return w.Peer()
	}
	return 0, nil, nil
}

// SetQoS implements ane.Prioritizer if the wrapped engine does.
func (v *invocation) SetQoS(q ane.QoS) error {
	if p, ok := v.Invocation.(ane.Prioritizer); ok {
		return p.SetQoS(q)
	}
	return &ane.Error{Op: "qos", Engine: v.engine.Info().Name, Err: errors.ErrUnsupported}
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
