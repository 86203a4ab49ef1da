package packed

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
)

func TestFits(t *testing.T) {
	require.True(t, (&Weights{High: 1}).Fits())
	require.False(t, (&Weights{High: 2}).Fits(), "blocks of several rows")
	require.False(t, (&Weights{High: 1, Read: numerics.Exponent31}).Fits(), "the rules of a chip")
}

// Blocks whose greatest element may just be a half have products of integers, those beyond have products of elements,
// and so do single rows of a batch.
func TestBoundOfElements(t *testing.T) {
	const rows, cols, wide = 2*batch + 3, 192, 64
	r := rand.New(rand.NewPCG(21, 22))
	x := halvesOf(r, cols)
	eachKernel(t, func(t *testing.T) {
		for _, c := range []struct {
			signed bool
			scale  float64
			in     bool
		}{
			{false, 4094, true}, {false, 4096, false}, {false, -4094, true}, {false, -4096, false},
			{true, 2728, true}, {true, 2730, false}, // with 8 to make integers unsigned: 24 times 2728 is 65472
		} {
			w := random(r, kind{4, 0, c.signed, 0}, rows, cols, 1, wide, false)
			for _, row := range []int{0, batch + 2, rows - 1} {
				w.Scale[row*cols/wide+1] = fp16.FromFloat64(c.scale)
				_, in := integers(w, x, row)
				require.Equal(t, c.in, in)
			}
			v, sums := arranged(w, x), make([]float32, rows)
			w.Dots(sums, &v, make([]float32, w.Room(rows)), 0)
			for row, got := range sums {
				require.True(t, same(reference(w, x, row), got), fmt.Sprint(c, row))
			}
		}
	})
}

// What Dots finds out of some rows of a batch, or of rows of two, is not what it remembers of one.
func TestPartsAreNotRemembered(t *testing.T) {
	const rows, cols, wide = 5 * batch / 2, 128, 64
	r := rand.New(rand.NewPCG(23, 24))
	x := halvesOf(r, cols)
	for _, k := range []kind{{4, 0, false, 2}, {8, 0, false, 2}} {
		w := random(r, k, rows, cols, 1, wide, false)
		for _, row := range []int{3, batch + 4, rows - 1} {
			w.Scale[row*cols/wide] = fp16.FromFloat64(60000)
		}
		eachKernel(t, func(t *testing.T) {
			w.Remember()
			v, room := arranged(w, x), make([]float32, w.Room(rows))
			for _, part := range [][2]int{{0, 3}, {4, batch}, {batch, 4}, {batch, 2}, {2 * batch, 1}, {0, rows}, {0, rows}} {
				sums := make([]float32, part[1])
				w.Dots(sums, &v, room, part[0])
				for i, got := range sums {
					require.True(t, same(reference(w, x, part[0]+i), got), fmt.Sprint(k, part, i))
				}
			}
		})
	}
}

// fused rounds once, also where the float64 between is a tie of float32s.
func TestFused(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	sign := func() float32 { return float32(1 - 2*r.IntN(2)) }
	for range 2000 {
		a, b := sign()*float32(4097+2*r.IntN(2047)), float32(4097+2*r.IntN(2047)) // an odd product of 25 or 26 bits
		c := sign() * float32(math.Ldexp(1+r.Float64(), -r.IntN(80)))
		if r.IntN(3) == 0 {
			c = float32(r.NormFloat64() * 0x1p26)
		}
		exact := new(big.Float).SetPrec(600).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		want, _ := exact.Add(exact, big.NewFloat(float64(c))).Float32()
		require.Equal(t, want, fused(a, b, c), fmt.Sprint(a, b, c))
	}
	inf := float32(math.Inf(1))
	require.Equal(t, inf, fused(inf, 2, 3))
	require.Equal(t, -inf, fused(2, 3, -inf))
	require.True(t, math.IsNaN(float64(fused(inf, 2, -inf))))
}
