package soft_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/numerics"
)

// tiny is the smallest program.
const tiny = `program(1.3)
{
func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x, tensor<fp16, [1, 1, 1, 32]> y) {
tensor<fp16, [1, 1, 1, 32]> z = add(x = x, y = y);
} -> (z);
}`

func benchmark(b *testing.B, text string, bytes int) {
	m := open(b, text)
	r, _ := m.bind(0.5)
	ctx := context.Background()
	if _, err := m.model.Evaluate(ctx, r); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.model.Evaluate(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluateTiny(b *testing.B) { benchmark(b, tiny, 3*64) }

// BenchmarkEvaluateTinyFloor is the arithmetic of tiny, called directly.
func BenchmarkEvaluateTinyFloor(b *testing.B) {
	x, y, z := make([]fp16.Bits, 32), make([]fp16.Bits, 32), make([]fp16.Bits, 32)
	f, g := make([]float32, 32), make([]float32, 32)
	b.SetBytes(3 * 64)
	for b.Loop() {
		fp16.Decode(f, x)
		fp16.Decode(g, y)
		for i := range f {
			f[i] += g[i]
		}
		fp16.Encode(z, f)
	}
}

const matmul512 = `program(1.3)
{
func main<ios18>(tensor<fp16, [512, 512]> x, tensor<fp16, [512, 512]> y) {
tensor<fp16, [512, 512]> z = matmul(x = x, y = y);
} -> (z);
}`

func BenchmarkMatmul512(b *testing.B) { benchmark(b, matmul512, 3*512*512*2) }

// BenchmarkMatmul512Floor is the same arithmetic on float32 operands in the
// layout of the micro-kernel: it decodes, packs and rounds nothing.
func BenchmarkMatmul512Floor(b *testing.B) { bareProduct(b, 512, 512, 512, 3*512*512*2) }

// bareProduct multiplies m x k by k x n with all processors.
func bareProduct(b *testing.B, m, k, n, bytes int) {
	x, y, z := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
	for i := range x {
		x[i] = 0.5
	}
	for i := range y {
		y[i] = 0.5
	}
	parts := runtime.GOMAXPROCS(0)
	b.SetBytes(int64(bytes))
	for b.Loop() {
		var wg sync.WaitGroup
		for p := range parts {
			lo, hi := m*p/parts, m*(p+1)/parts
			wg.Go(func() { gemm.Mul(z[lo*n:], x[lo*k:], y, hi-lo, k, n) })
		}
		wg.Wait()
	}
}

const convSize, convChannels = 64, 16

var conv3x3 = fmt.Sprintf(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, %[2]d, %[1]d, %[1]d]> x, tensor<fp16, [%[2]d, %[2]d, 3, 3]> w) {
tensor<fp16, [1, %[2]d, %[1]d, %[1]d]> z = conv(x = x, weight = w, pad_type = string("same"));
} -> (z);
}`, convSize, convChannels)

func BenchmarkConv3x3(b *testing.B) { benchmark(b, conv3x3, 2*convChannels*convSize*convSize*2) }

// BenchmarkConv3x3Floor is the same arithmetic as one bare product.
func BenchmarkConv3x3Floor(b *testing.B) {
	const bytes = 2 * convChannels * convSize * convSize * 2
	bareProduct(b, convChannels, convChannels*9, convSize*convSize, bytes)
}

const softmax4096 = `program(1.3)
{
func main<ios18>(tensor<fp16, [64, 4096]> x) {
tensor<fp16, [64, 4096]> z = softmax(x = x);
} -> (z);
}`

func BenchmarkSoftmax(b *testing.B) { benchmark(b, softmax4096, 2*64*4096*2) }

// BenchmarkSoftmaxFloor is softmax of float32 rows as bare loops, with all
// processors.
func BenchmarkSoftmaxFloor(b *testing.B) {
	const rows, length = 64, 4096
	x, z := make([]float32, rows*length), make([]float32, rows*length)
	parts := runtime.GOMAXPROCS(0)
	b.SetBytes(2 * rows * length * 2)
	for b.Loop() {
		var wg sync.WaitGroup
		for p := range parts {
			wg.Go(func() {
				for r := rows * p / parts; r < rows*(p+1)/parts; r++ {
					bareSoftmax(z[r*length:][:length], x[r*length:][:length])
				}
			})
		}
		wg.Wait()
	}
}

func bareSoftmax(out, row []float32) {
	top, sum := row[0], float32(0)
	for _, v := range row {
		top = max(top, v)
	}
	for i, v := range row {
		out[i] = float32(math.Exp(float64(v - top)))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
}

// BenchmarkModes measures every mode beside reference: a product, an elementwise operator and a function.
func BenchmarkModes(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"matmul512", `tensor<fp16, [512, 512]> x, tensor<fp16, [512, 512]> w) { tensor<fp16, [512, 512]> y = ` +
			`matmul(x = x, y = w, transpose_x = bool(false), transpose_y = bool(false))[name = string("y")]; } -> (y); }`},
		{"add1Mi", `tensor<fp16, [1024, 1024]> x, tensor<fp16, [1024, 1024]> w) { tensor<fp16, [1024, 1024]> y = ` +
			`add(x = x, y = w)[name = string("y")]; } -> (y); }`},
		{"relu1Mi", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = ` +
			`relu(x = x)[name = string("y")]; } -> (y); }`},
		{"sigmoid1Mi", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = ` +
			`sigmoid(x = x)[name = string("y")]; } -> (y); }`},
		{"softmax1Mi", `tensor<fp16, [1024, 1024]> x) { tensor<fp16, [1024, 1024]> y = ` +
			`softmax(x = x, axis = int32(1))[name = string("y")]; } -> (y); }`},
	} {
		for _, m := range numerics.Modes() {
			b.Run(c.name+"/"+m.String(), func(b *testing.B) {
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
						le.PutUint16(data[i:], uint16(0x2c00+i*7919%0xc00))
					}
					_, err := r.Input(l.Name).Write(data)
					require.NoError(b, err)
				}
				_, err = r.Evaluate(b.Context())
				require.NoError(b, err)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.Evaluate(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
