package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuards puts each slice at every position in a 64-byte line. Around the
// operands it puts NaN, which a read beyond them carries into the result.
// Around the result it puts a pattern, which a write beyond it changes.
func TestGuards(t *testing.T) {
	const guard = float32(12345.678)
	r := rand.New(rand.NewPCG(13, 14))
	framed := func(values []float32, offset int, around float32) []float32 {
		all := make([]float32, offset+len(values)+200)
		for i := range all {
			all[i] = around
		}
		copy(all[offset:], values)
		return all
	}
	nan := float32(math.NaN())
	shapes := []struct{ m, k, n int }{{1, 1, 1}, {4, 5, 16}, {8, 3, 32}, {9, 7, 33}, {3, 2, 150}, {13, 70, 47},
		{2, 0, 9}}
	eachKernel(t, func(t *testing.T) {
		for _, s := range shapes {
			left, right, want := halves(r, s.m*s.k), halves(r, s.k*s.n), make([]float32, s.m*s.n)
			loop(want, left, right, s.m, s.k, s.n, rounded)
			for offset := range 16 {
				a, b := framed(left, offset, nan), framed(right, 15-offset, nan)
				c := framed(normals(r, s.m*s.n), 5*offset%16, guard)
				Mul(c[5*offset%16:], a[offset:], b[15-offset:], s.m, s.k, s.n)
				sameBits(t, framed(want, 5*offset%16, guard), c, "%v at offset %d", s, offset)
				sameBits(t, framed(left, offset, nan), a, "A of %v", s)
				sameBits(t, framed(right, 15-offset, nan), b, "B of %v", s)
			}
		}
	})
}

func TestEmpty(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		c := []float32{7, 7, 7, 7, 7, 7, 7}
		Mul(c, nil, nil, 2, 0, 3)
		sameBits(t, []float32{0, 0, 0, 0, 0, 0, 7}, c, "k = 0")
		Mul(c[6:], nil, make([]float32, 6), 0, 2, 3)
		Mul(c[6:], make([]float32, 6), nil, 3, 2, 0)
		Mul(nil, nil, nil, 0, 0, 0)
		require.Equal(t, float32(7), c[6])
	})
}

// TestWrongCallsPanic checks that a wrong call panics and leaves c unchanged. Capacity
// does not count as length. The last sizes overflow when multiplied.
func TestWrongCallsPanic(t *testing.T) {
	const full = 64
	for _, s := range []struct{ m, k, n, lenC, lenA, lenB int }{
		{4, 4, 4, 15, 16, 16}, {4, 4, 4, 16, 15, 16}, {4, 4, 4, 16, 16, 15}, {1, 1, 1, 0, 1, 1}, {1, 0, 1, 0, 0, 0},
		{-1, 4, 4, full, full, full}, {4, -1, 4, full, full, full}, {4, 4, -1, full, full, full}, {-2, -2, -2, full,
			full, full},
		{math.MaxInt/4 + 2, 4, 4, full, full, full}, {4, math.MaxInt/4 + 2, 4, full, full, full}, {4, 4,
			math.MaxInt/4 + 2, full, full, full},
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			eachKernel(t, func(t *testing.T) {
				c, a, b := make([]float32, full), make([]float32, full), make([]float32, full)
				for i := range c {
					c[i] = 7
				}
				require.Panics(t, func() { Mul(c[:s.lenC], a[:s.lenA], b[:s.lenB], s.m, s.k, s.n) })
				for i, v := range c {
					require.Equal(t, float32(7), v, "element %d", i)
				}
			})
		})
	}
}

func TestAllocatesNothing(t *testing.T) {
	c, a, b := make([]float32, 9*49), make([]float32, 9*70), make([]float32, 70*49)
	eachKernel(t, func(t *testing.T) {
		require.Zero(t, testing.AllocsPerRun(10, func() { Mul(c, a, b, 9, 70, 49) }))
	})
}
