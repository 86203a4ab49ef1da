package soft_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// ratioCases have inputs of halves from low on. Those called overflow reach the range in most elements.
var ratioCases = []struct {
	name, text string
	low        int
}{
	{"add", binaryText("add"), 0x2c00}, {"mul", binaryText("mul"), 0x2c00}, {"real_div", binaryText("real_div"),
		0x2c00},
	{"maximum", binaryText("maximum"), 0x2c00},
	{"relu", `tensor<fp16, [4096, 1024]> x) { tensor<fp16, [4096, 1024]> y = relu(x = x)[name = string("y")]; } -> (y); }`,
		0x2c00},
	{"clip", `tensor<fp16, [4096, 1024]> x) { tensor<fp16, [4096, 1024]> y = clip(x = x, alpha = fp16(0), ` +
		`beta = fp16(6))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"reduce_sum", `tensor<fp16, [4096, 1024]> x) { tensor<fp16, [4096, 1]> y = reduce_sum(x = x, ` +
		`axes = tensor<int32, [1]>([1]), keep_dims = bool(true))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"softmax", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = softmax(x = x, axis = int32(1))` +
		`[name = string("y")]; } -> (y); }`, 0x2c00},
	{"layer_norm", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = layer_norm(x = x, ` +
		`axes = tensor<int32, [1]>([1]), epsilon = fp16(0.001))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"softmax/aside", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = softmax(x = x, axis = int32(0))` +
		`[name = string("y")]; } -> (y); }`, 0x2c00},
	{"layer_norm/aside", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = layer_norm(x = x, ` +
		`axes = tensor<int32, [1]>([0]), epsilon = fp16(0.001))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"reduce_sum/aside", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1, 1024]> y = reduce_sum(x = x, ` +
		`axes = tensor<int32, [1]>([0]), keep_dims = bool(true))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"avg_pool", `tensor<fp16, [1, 32, 128, 128]> x) { tensor<fp16, [1, 32, 64, 64]> y = avg_pool(x = x, ` +
		`kernel_sizes = tensor<int32, [2]>([2, 2]), strides = tensor<int32, [2]>([2, 2]), ` +
		`pad_type = string("valid"), exclude_padding_from_average = bool(false))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"silu", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = silu(x = x)[name = string("y")]; } -> (y); }`,
		0x2c00},
	{"transpose", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = transpose(x = x, ` +
		`perm = tensor<int32, [2]>([1, 0]))[name = string("y")]; } -> (y); }`, 0x2c00},
	{"conv", `tensor<fp16, [1, 64, 56, 56]> x, tensor<fp16, [64, 64, 3, 3]> y) { tensor<fp16, [1, 64, 54, 54]> z = conv(` +
		`x = x, weight = y)[name = string("z")]; } -> (z); }`, 0x2c00},
	{"lstm", `tensor<fp16, [32, 8, 128]> a, tensor<fp16, [8, 128]> b, tensor<fp16, [8, 128]> c, ` +
		`tensor<fp16, [512, 128]> d, tensor<fp16, [512, 128]> e) { tensor<fp16, [32, 8, 128]> y, ` +
		`tensor<fp16, [8, 128]> z, tensor<fp16, [8, 128]> w = lstm(x = a, initial_h = b, initial_c = c, weight_ih = d, ` +
		`weight_hh = e, output_sequence = bool(true))[name = string("y")]; } -> (y); }`, 0x2000},
	{"matmul", productText, 0x2c00},
	{"matmul/overflow", productText, 0x5800},
	{"matmul/near", productText, -0x4800},
	{"matmul/inside", insideText, -0x4c00},
	{"row", `tensor<fp16, [1, 2048]> x, tensor<fp16, [2048, 2048]> y) { tensor<fp16, [1, 2048]> z = matmul(` +
		`x = x, y = y, transpose_x = bool(false), transpose_y = bool(false))[name = string("z")]; } -> (z); }`, 0x2c00},
	{"column", `tensor<fp16, [2048, 2048]> x, tensor<fp16, [2048, 1]> y) { tensor<fp16, [2048, 1]> z = matmul(` +
		`x = x, y = y, transpose_x = bool(false), transpose_y = bool(false))[name = string("z")]; } -> (z); }`, 0x2c00},
	{"attention", `tensor<fp16, [4, 256, 64]> a, tensor<fp16, [4, 256, 64]> b, tensor<fp16, [4, 256, 64]> c) { ` +
		`tensor<fp16, [4, 256, 64]> y = scaled_dot_product_attention(query = a, key = b, value = c)` +
		`[name = string("y")]; } -> (y); }`, 0x2c00},
}

const productText = `tensor<fp16, [256, 512]> x, tensor<fp16, [512, 256]> y) { tensor<fp16, [256, 256]> z = matmul(` +
	`x = x, y = y, transpose_x = bool(false), transpose_y = bool(false))[name = string("z")]; } -> (z); }`

const insideText = `tensor<fp16, [512, 512]> x, tensor<fp16, [512, 512]> y) { tensor<fp16, [512, 512]> z = matmul(` +
	`x = x, y = y, transpose_x = bool(false), transpose_y = bool(false))[name = string("z")]; } -> (z); }`

func binaryText(op string) string {
	const shape = "tensor<fp16, [4096, 1024]>"
	return shape + " x, " + shape + " y) { " + shape + " z = " + op + `(x = x, y = y)[name = string("z")]; } -> (z); }`
}

// BenchmarkModeRatios evaluates each program in every mode by turns, and reports the least time of each mode as a
// multiple of that of reference.
func BenchmarkModeRatios(b *testing.B) {
	for _, c := range ratioCases {
		b.Run(c.name, func(b *testing.B) {
			all := numerics.Modes()
			requests, least := make([]*ane.Request, len(all)), make([]time.Duration, len(all))
			for k, m := range all {
				d, err := ane.Open(soft.New(soft.Numerics(m)), "")
				require.NoError(b, err)
				defer func() { require.NoError(b, d.Close()) }()
				model, err := d.Compile(b.Context(), ane.Source{Text: []byte("program(1.3)\n{ func main<ios18>(" +
					c.text)})
				require.NoError(b, err)
				defer func() { require.NoError(b, model.Close(b.Context())) }()
				r, err := model.NewRequest(b.Context())
				require.NoError(b, err)
				defer func() { require.NoError(b, r.Close()) }()
				for _, l := range model.Inputs() {
					data := make([]byte, l.PackedBytes())
					for i := 0; i < len(data); i += 2 {
						le.PutUint16(data[i:], halfNear(c.low, i))
					}
					_, err := r.Input(l.Name).Write(data)
					require.NoError(b, err)
				}
				_, err = r.Evaluate(b.Context())
				require.NoError(b, err)
				requests[k], least[k] = r, 1<<62
			}
			for b.Loop() {
				for k, r := range requests {
					from := time.Now()
					if _, err := r.Evaluate(b.Context()); err != nil {
						b.Fatal(err)
					}
					least[k] = min(least[k], time.Since(from))
				}
			}
			for k := range slices.Clone(all)[1:] {
				b.ReportMetric(float64(least[k+1])/float64(least[0]), all[k+1].String()+"-ratio")
			}
			b.ReportMetric(float64(least[0].Microseconds()), "reference-us")
		})
	}
}

// halfNear is a half from low on. A negative low is one whose sign alternates, so that sums stay within the range.
func halfNear(low, i int) uint16 {
	if low < 0 {
		return uint16(-low+i*7919%0xc00) | uint16(i>>1&1)<<15
	}
	return uint16(low + i*7919%0xc00)
}
