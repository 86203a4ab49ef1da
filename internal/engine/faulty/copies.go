package faulty

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// copies are the engines that do not work on the tensors' own pages.
func copies() []Fault {
	return []Fault{
		{Name: "hidden-copy", What: "stages inputs and outputs through its own Blocks",
			prepare: staged(eachRun, eachRun)},
		{Name: "copies-inputs", What: "stages inputs through its own Blocks", prepare: staged(eachRun, never)},
		{Name: "copies-outputs", What: "stages outputs through its own Blocks", prepare: staged(never, eachRun)},
		{Name: "copies-at-bind", What: "copies inputs only when they are bound",
			prepare: staged(once, never)},
	}
}

// when is how often tensors are copied.
type when int

const (
	never when = iota
	once
	eachRun
)

// staged prepares the wrapped engine with tensors on its own Blocks.
func staged(in, out when) prepare {
	return func(x *executable, given, results []*ane.Tensor) (*invocation, error) {
		v := &invocation{}
		sources, err := v.stage(in, given)
		if err == nil && in == once {
			err = moveAll(sources, given)
		}
		var targets []*ane.Tensor
		if err == nil {
			targets, err = v.stage(out, results)
		}
		var inner *invocation
		if err == nil {
			inner, err = honest(x, sources, targets)
		}
		if err != nil {
			for _, f := range v.after {
				_ = f() // report the first error
			}
			return nil, err
		}
		v.Invocation, v.in, v.out = inner.Invocation, given, results
		v.run = func(ctx context.Context, v *invocation) error {
			if in == eachRun {
				if err := moveAll(sources, given); err != nil {
					return err
				}
			}
			if err := v.Invocation.Evaluate(ctx); err != nil || out != eachRun {
				return err
			}
			return moveAll(results, targets)
		}
		return v, nil
	}
}

// stage returns tensors like the given ones on new Blocks, which v closes. If
// nothing is to be copied, it returns the given tensors.
func (v *invocation) stage(how when, given []*ane.Tensor) ([]*ane.Tensor, error) {
	if how == never {
		return given, nil
	}
	var copies []*ane.Tensor
	for _, t := range given {
		b, err := unimem.Open(t.Layout().Bytes())
		if err != nil {
			return nil, err
		}
		v.after = append(v.after, b.Close)
		s, err := ane.OnBlock(b, t.Layout())
		if err != nil {
			return nil, err
		}
		copies = append(copies, s)
	}
	return copies, nil
}

// moveAll copies the elements of tensors without their padding.
func moveAll(dst, src []*ane.Tensor) error {
	for i := range dst {
		if _, err := ane.Copy(dst[i], src[i]); err != nil {
			return err
		}
	}
	return nil
}
