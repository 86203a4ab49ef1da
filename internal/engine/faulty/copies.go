package faulty

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
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
	return func(x *executable, given, results []*ane.Tensor) (v *invocation, err error) {
		var blocks step.T
		if err := step.Catch(func() {
			sources, targets := stage(&blocks, in, given), stage(&blocks, out, results)
			if in == once {
				moveAll(sources, given)
			}
			v = step.Must(honest(x, sources, targets))
			v.run = func(ctx context.Context, v *invocation) error {
				return step.Catch(func() {
					if in == eachRun {
						moveAll(sources, given)
					}
					step.NoError(v.Invocation.Evaluate(ctx))
					if out == eachRun {
						moveAll(results, targets)
					}
				})
			}
		}); err != nil {
			return nil, errors.Join(err, blocks.Close(context.Background()))
		}
		v.in, v.out, v.after = given, results, blocks
		return v, nil
	}
}

// stage returns tensors like the given ones on new Blocks. If nothing is to be copied, it
// returns the given tensors.
func stage(blocks *step.T, copied when, given []*ane.Tensor) (copies []*ane.Tensor) {
	if copied == never {
		return given
	}
	for _, t := range given {
		b := step.Must(unimem.Open(t.Layout().Bytes()))
		blocks.Closing(b.Close)
		copies = append(copies, step.Must(ane.OnBlock(b, t.Layout())))
	}
	return copies
}

// moveAll copies the elements of tensors without their padding.
func moveAll(dst, src []*ane.Tensor) {
	for i := range dst {
		step.Must(ane.Copy(dst[i], src[i]))
	}
}
