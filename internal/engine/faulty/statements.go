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
		{Name: "claims-apple", What: "reports the name apple", info: func(i *ane.Info) { i.Name = "apple" }},
		{Name: "claims-offsets", SuiteOnly: true,
			What: "claims to support offsets, but reads every surface from byte 0",
			info: func(i *ane.Info) { i.Offsets = true }, prepare: fromZero},
		{Name: "wrong-strides", What: "reports rows padded to 128 bytes", layout: wider},
		{Name: "wrong-names", What: "reports inputs and outputs under other names",
			layout: func(l *ane.Layout) { l.Name += "_0" }},
		{Name: "drops-errors", SuiteOnly: true, What: "returns nil from an evaluation that failed or never ran",
			run: dropping},
		{Name: "untyped-errors", SuiteOnly: true, What: "returns errors that match no sentinel",
			errs: func(err error) error { return errors.New(err.Error()) }},
	}
}

// fromZero binds the program to byte 0 of every surface.
func fromZero(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	var moved []*ane.Tensor
	for _, t := range slices.Concat(in, out) {
		u, err := ane.OnBlock(t.Block(), t.Layout())
		if err != nil {
			return nil, err
		}
		moved = append(moved, u)
	}
	return honest(x, moved[:len(in)], moved[len(in):])
}

// wider doubles the alignment of rows.
func wider(l *ane.Layout) {
	const align = 2 * ane.RowAlign
	l.RowStride = (l.RowBytes() + align - 1) / align * align
	l.PlaneStride = l.Height * l.RowStride
	l.DepthStride = l.Channels * l.PlaneStride
	l.BatchStride = l.Depth * l.DepthStride
}

// dropping runs only while ctx is alive and drops all errors.
func dropping(ctx context.Context, v *invocation) error {
	if ctx.Err() == nil {
		_ = v.Invocation.Evaluate(ctx) // dropping the error is the fault
	}
	return nil
}
