package interp_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
)

// tiny is the least a program can do.
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

// BenchmarkMatmul512Floor is the product of float32 matrices as three bare
// loops, the innermost along rows.
func BenchmarkMatmul512Floor(b *testing.B) {
	const n = 512
	x, y, z := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	for i := range x {
		x[i], y[i] = 0.5, 0.5
	}
	b.SetBytes(3 * n * n * 2)
	for b.Loop() {
		clear(z)
		for i := range n {
			for k := range n {
				f := x[i*n+k]
				row, out := y[k*n:(k+1)*n], z[i*n:(i+1)*n]
				for j, v := range row {
					out[j] += f * v
				}
			}
		}
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

// BenchmarkConv3x3Floor is the convolution of float32 planes as bare loops,
// the innermost along rows; the border was padded beforehand.
func BenchmarkConv3x3Floor(b *testing.B) {
	const n, c, p = convSize, convChannels, convSize + 2
	x, w, z := make([]float32, c*p*p), make([]float32, c*c*9), make([]float32, c*n*n)
	for i := range x {
		x[i] = 0.5
	}
	b.SetBytes(2 * c * n * n * 2)
	for b.Loop() {
		clear(z)
		for o := range c {
			for ch := range c {
				for k := range 9 {
					f := w[(o*c+ch)*9+k]
					for h := range n {
						row, out := x[ch*p*p+(h+k/3)*p+k%3:][:n], z[o*n*n+h*n:][:n]
						for i, v := range row {
							out[i] += f * v
						}
					}
				}
			}
		}
	}
}

const softmax4096 = `program(1.3)
{
func main<ios18>(tensor<fp16, [64, 4096]> x) {
tensor<fp16, [64, 4096]> z = softmax(x = x);
} -> (z);
}`

func BenchmarkSoftmax(b *testing.B) { benchmark(b, softmax4096, 2*64*4096*2) }

// BenchmarkSoftmaxFloor is softmax of float32 rows as bare loops.
func BenchmarkSoftmaxFloor(b *testing.B) {
	x, z := make([]float32, 64*4096), make([]float32, 64*4096)
	b.SetBytes(2 * 64 * 4096 * 2)
	for b.Loop() {
		for r := range 64 {
			row, out := x[r*4096:][:4096], z[r*4096:][:4096]
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
	}
}
