package build_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// The weights of a convolution are 4 bits each, with one scale and one offset for each output channel.
func ExampleFunc_ConstexprBlockwiseShiftScale() {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	q := f.Const("q", mil.Ints(mil.TensorOf(mil.Int4, 2, 2, 1, 1), []int{7, -8, 1, 3}))
	scale := f.Const("scale", mil.Floats(mil.TensorOf(mil.FP16, 2, 1, 1, 1), []float64{0.5, 0.25}))
	zero := f.Const("zero", mil.Ints(mil.TensorOf(mil.Int4, 2, 1, 1, 1), []int{0, 2}))
	f.Output("y", f.Conv(x, f.ConstexprBlockwiseShiftScale(q, scale, build.Offset(zero))))
	p, err := b.Program()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range p.Funcs[0].Body {
		if op.Kind != "const" {
			fmt.Println(op.Results[0].Type, "=", op.Kind)
		}
	}
	// Output:
	// tensor<fp16, [2, 2, 1, 1]> = constexpr_blockwise_shift_scale
	// tensor<fp16, [1, 2, 1, 32]> = conv
}
