package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows become columns, and what lies beside and beyond them stays.
func TestInterleave(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	eachKernel(t, func(t *testing.T) {
		for n := range 40 {
			for _, width := range []int{8, 9, 24, 257} {
				var rows [Interleaved][]float32
				for j := range rows {
					rows[j] = normals(r, n)
				}
				got := normals(r, max(0, (n-1)*width+8)+3)
				want := append([]float32{}, got...)
				for i := range n {
					for j := range rows {
						want[i*width+j] = rows[j][i]
					}
				}
				Interleave(got[:max(0, (n-1)*width+8)], width, &rows)
				sameBits(t, want, got, "%d elements, %d apart", n, width)
			}
		}
	})
}

func TestInterleaveRefuses(t *testing.T) {
	rows := [Interleaved][]float32{}
	for j := range rows {
		rows[j] = make([]float32, 8)
	}
	require.Panics(t, func() { Interleave(make([]float32, 7*8+7), 8, &rows) }, "a short destination")
	require.Panics(t, func() { Interleave(make([]float32, 100), 7, &rows) }, "columns that overlap")
	rows[5] = rows[5][:7]
	require.Panics(t, func() { Interleave(make([]float32, 100), 8, &rows) }, "a short row")
}

// BenchmarkInterleave is a panel of 256 columns beside copying as many elements.
func BenchmarkInterleave(b *testing.B) {
	const n, width = 2048, 256
	dst := make([]float32, n*width)
	var rows [Interleaved][]float32
	for j := range rows {
		rows[j] = make([]float32, n)
	}
	b.Run("panel", func(b *testing.B) {
		b.SetBytes(4 * n * width)
		for b.Loop() {
			for at := 0; at < width; at += Interleaved {
				Interleave(dst[at:], width, &rows)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(4 * n * width)
		for b.Loop() {
			for at := range width {
				copy(dst[at*n:][:n], rows[at%Interleaved])
			}
		}
	})
}
