package halves

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

func TestProductsWithVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, s := range [][2]int{{1, 1}, {3, 16}, {8, 17}, {9, 33}, {40, 64}, {7, 5}, {600, 40}, {4, 32}, {3, 200}, {1, 4130}, {2, 9000}} {
		rows, cols := s[0], s[1]
		stride := cols + r.IntN(3)
		x, _ := values(r, max(rows, dotRows)*stride+cols)
		x = finite(x)
		down, along := make([]float32, rows), make([]float32, cols)
		for i := range down {
			down[i] = fp16.FromFloat64(r.NormFloat64()).Float32()
		}
		for i := range along {
			along[i] = fp16.FromFloat64(r.NormFloat64()).Float32()
		}
		want, dots := make([]float32, cols+1), [dotRows]float32{}
		for i := range rows {
			for j := range cols {
				want[j] += float32(down[i] * x[i*stride+j].Float32())
			}
		}
		for i := range dots {
			for j := range cols {
				dots[i] += float32(along[j] * x[i*stride+j].Float32())
			}
		}
		each(t, func(t *testing.T) {
			got, sums := make([]float32, cols+1), [dotRows]float32{5}
			MulRows(got[:cols], down, x, stride)
			require.Equal(t, want, got)
			for _, few := range []int{1, 4, 7, 8} {
				all, vectors := make([]float32, few*cols), make([]float32, few*(rows+2))
				for i := range few {
					for j, f := range down {
						vectors[i*(rows+2)+j] = f * float32(i+1)
					}
				}
				MulFew(all, cols, vectors, rows+2, rows, x, stride)
				for i := range few {
					one := make([]float32, cols)
					MulRows(one, vectors[i*(rows+2):][:rows], x, stride)
					require.Equal(t, one, all[i*cols:][:cols], "%d of %d", i, few)
				}
			}
			Dots(&sums, along, x, x[:len(x)*(rows%2)], stride)
			require.Equal(t, dots, sums)
		})
	}
}
