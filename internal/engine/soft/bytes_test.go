package soft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
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
		{n: 131072, k: 9, x: -128, w: -128, want: 1e9}, {n: 140000, k: 7, x: 127, w: 127, want: 1e9},
		{n: 140000, k: 7, x: 127, w: -127, want: -1e9},
	} {
		if c.n > 16384 && (!effort.Full()) {
			continue
		}
		x := make([]fp16.Bits, 2*c.n) // the second column is 0, or its products cancel
		for i := range c.n {
			x[2*i] = fp16.FromFloat32(float32(c.x) / float32(int(1)<<c.k))
			if c.x == 127 {
				x[2*i+1] = x[2*i] ^ fp16.Bits(i%2<<15)
			}
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
    func main<ios18>(tensor<fp16, [1, %[1]d, 1, 2]> x) {
        tensor<int8, [1, %[1]d, 1, 2]> q = quantize(input = x, scale = fp16(0x1p-%[2]d), output_dtype = string("int8"));
        tensor<fp16, [1, %[1]d, 1, 2]> d = dequantize(input = q, scale = fp16(0x1p-%[2]d));
        tensor<fp16, [1, %[1]d, 1, 1]> w = constexpr_blockwise_shift_scale(
            data = tensor<int8, [1, %[1]d, 1, 1]>([%[3]s]), scale = tensor<fp16, [1, 1, 1, 1]>([0x1p-%[2]d]));
        tensor<fp16, [1, 1, 1, 2]> y = conv(x = d, weight = w)[name = string("y")];
    } -> (y);
}`, c.n, c.k, list)
		for _, m := range []numerics.Mode{numerics.M4, numerics.M6, numerics.M1} {
			requireHalves(t, []fp16.Bits{fp16.FromFloat32(c.want), 0},
				evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)), fmt.Sprintf("%s %+v", m, c))
		}
	}
}

// Each output channel of a grouped convolution of int8 has its own scale and bias, also where the engine computes the
// result in several tiles. All values are exact.
func TestGroupedConvOfInt8(t *testing.T) {
	groupedConvOfInt8(t, 3, 5)
	groupedConvOfInt8(t, 150, 700)
}

func groupedConvOfInt8(t *testing.T, outputs, columns int) {
	const images, groups, inputs = 2, 2, 2
	const channels = groups * inputs // of x; outputs are those of a group
	scales, bias := make([]float32, groups*outputs), make([]float32, groups*outputs)
	for o := range scales {
		scales[o], bias[o] = []float32{1, 0.5, 2, 0.25, 4, 0.125}[o%6], float32(o*3%11)-5
	}
	x := make([]fp16.Bits, images*channels*columns)
	number := func(i int) int { return i*7%17 - 8 }
	for i := range x {
		x[i] = fp16.FromFloat32(float32(number(i)) / 2)
	}
	weight := func(o, i int) int { return (o*inputs+i)*5%7 - 3 }
	var want []fp16.Bits
	for n := range images {
		for o := range groups * outputs {
			for col := range columns {
				sum := 0
				for i := range inputs {
					sum += weight(o, i) * number((n*channels+o/outputs*inputs+i)*columns+col)
				}
				want = append(want, fp16.FromFloat32(float32(sum)*scales[o]/2+bias[o]))
			}
		}
	}
	var weights []string
	for o := range groups * outputs {
		for i := range inputs {
			weights = append(weights, fmt.Sprint(weight(o, i)))
		}
	}
	list := func(values []float32) string {
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(values)), ", "), "[]")
	}
	text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 4, 1, %[1]d]> x) {
        tensor<int8, [2, 4, 1, %[1]d]> q = quantize(input = x, scale = fp16(0.5), output_dtype = string("int8"));
        tensor<fp16, [2, 4, 1, %[1]d]> d = dequantize(input = q, scale = fp16(0.5));
        tensor<fp16, [%[2]d, 2, 1, 1]> w = constexpr_blockwise_shift_scale(
            data = tensor<int8, [%[2]d, 2, 1, 1]>([%[3]s]), scale = tensor<fp16, [%[2]d, 1, 1, 1]>([%[4]s]));
        tensor<fp16, [2, %[2]d, 1, %[1]d]> y = conv(x = d, weight = w, groups = int32(2),
            bias = tensor<fp16, [%[2]d]>([%[5]s]));
    } -> (y);
}`, columns, groups*outputs, strings.Join(weights, ", "), list(scales), list(bias))
	for _, m := range chipModes() {
		requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)), m.String())
	}
}
