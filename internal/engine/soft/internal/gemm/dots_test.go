package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// rowsOf are random rows of halves that lie apart, with numbers beyond the last that no product may have.
func rowsOf(r *rand.Rand, count, n, apart int) Rows[half] {
	x := make([]half, (count-1)*(n+apart)+n)
	for i := range x {
		x[i] = fp16.NaN
	}
	for i := range count {
		for k := range n {
			x[i*(n+apart)+k] = fp16.FromFloat64(r.NormFloat64())
		}
	}
	return Rows[half]{x, count, n, n + apart}
}

// inLanes is a sum of Dots.
func inLanes(x []float32, row []half) (sum float32) {
	for at := 0; at < len(x); at += dotsDepth {
		var lanes [8]float32
		for k := at; k < min(at+dotsDepth, len(x)); k++ {
			lanes[k%8] += float32(x[k] * row[k].Float32())
		}
		for n := 4; n > 0; n /= 2 {
			for i := range n {
				lanes[i] = lanes[2*i] + lanes[2*i+1]
			}
		}
		sum += lanes[0]
	}
	return sum
}

func TestDots(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(51, 52))
	for _, n := range []int{32, 64, 992, 1024, 1056, 3 * 1024} {
		for _, vectors := range []int{1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 20} {
			rows := rowsOf(r, 2+2*r.IntN(4), n, r.IntN(3))
			x, sums := halves(r, vectors*n), normals(r, vectors*rows.Count)
			if r.IntN(3) == 0 {
				rows.Elements[r.IntN(n)], x[r.IntN(n)] = fp16.Inf, 0
			}
			Dots(sums, x, rows)
			for i, got := range sums {
				want := inLanes(x[i/rows.Count*n:][:n], rows.Elements[i%rows.Count*rows.Stride:])
				if math.IsNaN(float64(want)) {
					require.True(t, math.IsNaN(float64(got)))
					continue
				}
				require.Equal(t, math.Float32bits(want), math.Float32bits(got), "%d vectors of %d, sum %d", vectors, n, i)
			}
		}
	}
	require.False(t, Dotted(0) || Dotted(33))
	for _, rows := range []Rows[half]{{make([]half, 96), 3, 32, 32}, {make([]half, 63), 2, 32, 32}, {nil, 2, 0, 0},
		{make([]half, 64), 2, 32, 31}} {
		require.Panics(t, func() { Dots(make([]float32, rows.Count), make([]float32, rows.N), rows) })
	}
}

// BenchmarkDots are products of some vectors with 64 MiB of halves. The floor is a read of them, BenchmarkDotsFloor. On
// an EPYC of family 25, with as many threads at work beside it, llama.cpp computes a prompt of 2 tokens at 7.7 GB/s of
// halves, and one of 5 at 4.7.
func BenchmarkDots(b *testing.B) {
	useStrips(b)
	const k, n, piece = 1024, 1 << 15, 32
	for _, vectors := range []int{1, 2, 5, 8, 16} {
		b.Run(fmt.Sprint(vectors), func(b *testing.B) {
			rows := Rows[half]{make([]half, k*n), piece, k, k}
			x, sums := make([]float32, vectors*k), make([]float32, vectors*piece)
			b.SetBytes(2 * k * n)
			for b.Loop() {
				for at := 0; at < n; at += piece {
					some := rows
					some.Elements = rows.Elements[at*k:]
					Dots(sums, x, some)
				}
			}
		})
	}
}

func BenchmarkDotsFloor(b *testing.B) {
	x, sum := make([]half, 1<<25), half(0)
	b.SetBytes(2 << 25)
	for b.Loop() {
		for i := 0; i < len(x); i += 32 { // a line of memory
			sum += x[i]
		}
	}
	require.Zero(b, sum)
}
