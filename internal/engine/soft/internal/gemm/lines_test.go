package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// lineCase returns rows of halves, a vector, and for each row the sum in float64 with the sum of magnitudes.
func lineCase(r *rand.Rand, count, n, stride int) (rows Rows[half], vector []float32, sums, sizes []float64) {
	numbers := halves(r, count*stride)
	rows, vector = Rows[half]{make([]half, len(numbers)-stride+n), count, n, stride}, halves(r, n)
	for i := range rows.Elements {
		rows.Elements[i] = fp16.FromFloat32(numbers[i])
	}
	for i := range count {
		sum, size := 0., 0.
		for k, f := range vector {
			p := float64(f) * float64(rows.Elements[i*stride+k].Float32())
			sum, size = sum+p, size+math.Abs(p)
		}
		sums, sizes = append(sums, sum), append(sizes, size)
	}
	return rows, vector, sums, sizes
}

// TestMulLines: the sums have the same bits with each kernel, and err by less than those in order may.
func TestMulLines(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, n := range []int{0, 1, 7, 31, 32, 33, 64, 100, 1000} {
		for _, count := range []int{1, 3, 32} {
			rows, vector, sums, sizes := lineCase(r, count, n, n+r.IntN(3))
			var first []float32
			eachKernel(t, func(t *testing.T) {
				got := normals(r, count)
				MulLines(got, vector, rows)
				for i, f := range got {
					require.InDelta(t, sums[i], f, sizes[i]*float64(n/32+8)*0x1p-24, "row %d of %d", i, n)
				}
				if first == nil {
					first = got
				}
				sameBits(t, first, got, "%d rows of %d", count, n)
			})
		}
	}
}

// TestMulLinesKeepsWhatIsNotFinite: a row with an infinity or NaN times zeros has a sum that is not finite.
func TestMulLinesKeepsWhatIsNotFinite(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{5, 32, 70} {
			for k := range n {
				for _, h := range []half{fp16.Inf, fp16.Inf | 1<<15, fp16.NaN} {
					x, sums := make([]half, 2*n), make([]float32, 2)
					x[k] = h
					MulLines(sums, make([]float32, n), Rows[half]{x, 2, n, n})
					require.True(t, sums[0] != sums[0], "0 times %v at %d", h.Float32(), k)
					require.Zero(t, sums[1])
				}
			}
		}
	})
}

func TestMulLinesRefuses(t *testing.T) {
	for _, r := range []Rows[half]{{make([]half, 9), 2, 5, 5}, {make([]half, 10), 2, 5, 4}, {make([]half, 10), 1, 5, 5},
		{make([]half, 10), 2, 4, 5}} {
		require.PanicsWithValue(t, "BUG: gemm: wrong sizes of rows for a vector", func() {
			MulLines(make([]float32, 2), make([]float32, 5), r)
		})
	}
	MulLines(nil, make([]float32, 5), Rows[half]{N: 5, Stride: 5})
}

// BenchmarkLines is the product of a vector with 64 MiB of halves (with -short 256 KiB), as a step of a language model
// has it. The floor is a read of the same bytes. In the minutes in which it took 0.069 ns for each of two bytes,
// llama.cpp took 0.07 and a loop that reads 0.056.
func BenchmarkLines(b *testing.B) {
	const n = 1 << 11
	count := 1 << 14
	if testing.Short() {
		count = 1 << 6
	}
	rows, vector := Rows[half]{make([]half, count*n), count, n, n}, make([]float32, n)
	sums := make([]float32, count)
	b.Run("product", func(b *testing.B) {
		b.SetBytes(int64(2 * len(rows.Elements)))
		for b.Loop() {
			MulLines(sums, vector, rows)
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(2 * len(rows.Elements)))
		for b.Loop() {
			var s [4]half
			for x := rows.Elements; len(x) >= 32; x = x[32:] { // a line of memory
				s[0], s[1], s[2], s[3] = s[0]|x[0], s[1]|x[8], s[2]|x[16], s[3]|x[24]
			}
			sums[0] = float32(s[0] | s[1] | s[2] | s[3])
		}
	})
}
