// Package tripbench measures an evaluation by an engine in another process against its floor:
// two processes that only wake each other through eventfds.
package tripbench

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

// MaxSpread is the target of the largest tensor's time, in times of the smallest.
const MaxSpread = 1.2

// Sizes are the bytes of the inputs.
func Sizes() []int { return []int{1 << 20, 16 << 20, 256 << 20} }

// Cases returns an evaluation on d for each of Sizes, of a program that reads one row of its input.
func Cases(d *ane.Device) (all []measure.Case) {
	for _, n := range Sizes() {
		all = append(all, measure.Case{Name: fmt.Sprintf("Evaluate%dMB", n>>20), Each: true, MaxRatio: 2, MaxNs: 25e3,
			What: "Evaluate one row of " + measure.BytesText(n), Floor: trips,
			Open: func(t *step.T) measure.Loop { return evaluations(t, d, n) }})
	}
	return all
}

// Floor is the floor alone.
func Floor() []measure.Case { return []measure.Case{{Name: "Floor", Each: true, Open: trips}} }

// evaluations evaluates a program whose work does not depend on the size of its input. It copies the last row, of 64
// bytes, which is the alignment of rows.
func evaluations(t *step.T, d *ane.Device, bytes int) measure.Loop {
	const height, width = 512, 32
	planes := bytes / (height * width * 2)
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, planes, height, width)
	f.Output(f.Op("slice_by_size", mil.TensorOf(mil.FP16, 1, 1, 1, width), "y", mil.A("x", x),
		mil.A("begin", f.Const("begin", mil.Int32s(0, planes-1, height-1, 0))),
		mil.A("size", f.Const("size", mil.Int32s(1, 1, 1, width)))))
	source := ane.Source{File: "row.mil", Text: mil.Print(step.Must(b.Program()))}
	r := measure.Program(t, d, source, func(x *ane.Tensor) error { return x.Set(7, 0, planes-1, height-1, 3) })
	l := measure.Repeat(func() error {
		_, err := r.Evaluate(context.Background())
		return err
	})
	step.NoError(l(1))
	if v := step.Must(r.Output("y").At(0, 0, 0, 3)); v != 7 {
		step.NoError(fmt.Errorf("tripbench: the result is %v, want 7", v))
	}
	return l
}
