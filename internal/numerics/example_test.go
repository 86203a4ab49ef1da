package numerics_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
)

// A sum that passes 32768 on its way is infinite for good on a chip.
func ExampleRules_MAC() {
	x := []fp16.Bits{fp16.FromFloat32(20000), fp16.FromFloat32(20000), fp16.FromFloat32(-20000)}
	w := []fp16.Bits{fp16.FromFloat32(1), fp16.FromFloat32(1), fp16.FromFloat32(1)}
	fmt.Println(numerics.Reference.Rules().MAC(x, w, 0).Float32(), numerics.M6.Rules().MAC(x, w, 0).Float32())
	// Output: 20000 +Inf
}

// Functions are tables of 33 knots.
func ExampleRules_Unary() {
	y, ok := numerics.M6.Rules().Unary("sigmoid", fp16.FromFloat32(-9.5), 0)
	fmt.Println(y.Float32(), ok)
	// Output: 7.57575e-05 true
}
