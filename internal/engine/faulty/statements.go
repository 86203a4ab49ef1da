package faulty

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
)

// statements are the engines that report something false.
func statements() []Fault {
	return []Fault{
		{Name: "claims-apple", What: "reports the name apple", info: func(i ane.Info) ane.Info {
			i.Name = "apple"
			return i
		}},
		{Name: "claims-offsets", SuiteOnly: true,
			What: "claims to support offsets, but reads every surface from byte 0", info: func(i ane.Info) ane.Info {
				i.Offsets = true
				return i
			}, prepare: fromZero},
		{Name: "wrong-strides", What: "reports rows padded to 128 bytes", layouts: wider},
		{Name: "wrong-names", What: "reports inputs and outputs under other names", layouts: renamed},
		{Name: "drops-errors", SuiteOnly: true, What: "returns nil from an evaluation that failed or never ran",
			run: dropping},
		{Name: "untyped-errors", SuiteOnly: true, What: "returns errors that match no sentinel",
			errs: func(err error) error { return errors.New(err.Error()) }},
	}
}

// fromZero binds the program to byte 0 of every surface.
func fromZero(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	var moved [2][]*ane.Tensor
	for i, list := range [2][]*ane.Tensor{in, out} {
		for _, t := range list {
			u, err := ane.OnBlock(t.Block(), t.Layout())
			if err != nil {
				return nil, err
			}
			moved[i] = append(moved[i], u)
		}
	}
	return honest(x, moved[0], moved[1])
}

// wider doubles the alignment of rows.
func wider(layouts []ane.Layout) []ane.Layout {
	const align = 2 * ane.RowAlign
	wide := slices.Clone(layouts)
	for i := range wide {
		l := &wide[i]
		l.RowStride = (l.RowBytes() + align - 1) / align * align
		l.PlaneStride = l.Height * l.RowStride
		l.DepthStride = l.Channels * l.PlaneStride
		l.BatchStride = l.Depth * l.DepthStride
	}
	return wide
}

func renamed(layouts []ane.Layout) []ane.Layout {
	other := slices.Clone(layouts)
	for i := range other {
		other[i].Name += "_0"
	}
	return other
}

// dropping runs only while ctx is alive and drops all errors.
func dropping(ctx context.Context, v *invocation) error {
	if ctx.Err() == nil {
		_ = v.Invocation.Evaluate(ctx) // dropping the error is the fault
	}
	return nil
}
