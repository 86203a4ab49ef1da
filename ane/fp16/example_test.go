package fp16_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/fp16"
)

func ExampleEncode() {
	src := []float32{1, 0.1, 65504, 1e6, 1e-9}
	half := make([]fp16.Bits, len(src))
	n := fp16.Encode(half, src)
	back := make([]float32, n)
	fp16.Decode(back, half)
	fmt.Printf("%#04x\n%v\n", half, back)
	// Output:
	// [0x3c00 0x2e66 0x7bff 0x7c00 0x0000]
	// [1 0.099975586 65504 +Inf 0]
}

func ExampleRound() {
	x := []float32{0.1, 2049, -70000}
	fp16.Round(x, x)
	fmt.Println(x)
	// Output: [0.099975586 2048 -Inf]
}
