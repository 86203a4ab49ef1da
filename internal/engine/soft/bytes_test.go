package soft_test

import (
	"fmt"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/internal/engine/soft"
)

// TestConvOfInt8: quantize, dequantize and a convolution with int8 weights sum integers on a chip, without the
// limit of 32768 and with one at 2^31; the reference rounds each step to fp16.
func TestConvOfInt8(t *testing.T) {
	for _, c := range []struct {
		n, k   int
		x, w   int8
		cancel bool
		want   float32
	}{
		{n: 2048, k: 7, x: 127, w: 127, want: 2016}, {n: 2082, k: 7, x: 127, w: 127, want: 2050},
		{n: 16384, k: 6, x: 127, w: 127, want: 64512}, {n: 8330, k: 6, x: 127, w: 127, want: 32800},
		{n: 4096, k: 7, x: 127, w: 127, cancel: true, want: 0}, {n: 65536, k: 8, x: -128, w: -128, want: 16384},
		{n: 131072, k: 9, x: -128, w: -128, want: 1e9},
	} {
		x := make([]fp16.Bits, c.n)
		for i := range x {
			x[i] = fp16.FromFloat32(float32(c.x) / float32(int(1)<<c.k))
		}
		w := fmt.Sprint(c.w)
		list := make([]byte, 0, 6*c.n)
		for i := range c.n {
			if i > 0 {
				list = append(list, ", "...)
			}
			if c.cancel && i >= c.n/2 {
				list = append(list, '-')
			}
			list = append(list, w...)
		}
		text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, %[1]d, 1, 1]> x) {
        tensor<int8, [1, %[1]d, 1, 1]> q = quantize(input = x, scale = fp16(0x1p-%[2]d), output_dtype = string("int8"));
        tensor<fp16, [1, %[1]d, 1, 1]> d = dequantize(input = q, scale = fp16(0x1p-%[2]d));
        tensor<fp16, [1, %[1]d, 1, 1]> w = constexpr_blockwise_shift_scale(
            data = tensor<int8, [1, %[1]d, 1, 1]>([%[3]s]), scale = tensor<fp16, [1, 1, 1, 1]>([0x1p-%[2]d]));
        tensor<fp16, [1, 1, 1, 1]> y = conv(x = d, weight = w)[name = string("y")];
    } -> (y);
}`, c.n, c.k, list)
		for _, m := range []numerics.Mode{numerics.M4, numerics.M6, numerics.M1} {
			requireHalves(t, []fp16.Bits{fp16.FromFloat32(c.want)},
				evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)), fmt.Sprintf("%s %+v", m, c))
		}
	}
}
