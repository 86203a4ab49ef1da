package halves

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// TestFinish: it is Encode, Binary and Clamp one after another, and declines what it may not decide.
func TestFinish(t *testing.T) {
	if !Vectors() {
		t.Skip("this machine has no kernel for it")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range lengths {
		a, _ := values(r, n)
		x := make([]float32, n)
		for i, h := range finite(a) { // at and around halves and their ties
			x[i] = math.Float32frombits(math.Float32bits(h.Float32()) + []uint32{0, 0x1000, 0xfff, 0x1001}[r.IntN(4)])
		}
		for i := range n / 9 {
			x[i*9] = []float32{float32(math.Inf(1)), float32(math.Inf(-1)), 65520, -65520, 0x1p-25, -0x1p-26}[r.IntN(6)]
		}
		for _, bias := range append(edges[:14:14], 0x8000, 0x8001, 0xbc00, 0xfbff) {
			for _, ends := range [][2]fp16.Bits{{0xfc00, 0x7c00}, {0, 0x7c00}, {0, 0x4600}, {0x3c00, 0xbc00},
				{0xbc00, 0x8000}, {0, 0x8000}, {0x0001, 0x03ff}} {
				want, got := make([]fp16.Bits, n), make([]fp16.Bits, n+1)
				got[n] = 0x1234
				Encode(want, x, 0)
				Binary(Add, want, want, []fp16.Bits{bias}, 0)
				nan := false
				for _, h := range want {
					nan = nan || h.IsNaN()
				}
				Clamp(want, want, ends[0], ends[1], true)
				done := Finish(got[:n], x, bias.Float32(), ends[0], ends[1])
				require.Equal(t, !nan, done)
				require.Equal(t, fp16.Bits(0x1234), got[n])
				if done {
					require.Equal(t, want, got[:n], fmt.Sprint(n, bias, ends))
				}
			}
		}
		for i := range x { // a NaN anywhere
			was := x[i]
			x[i] = float32(math.NaN())
			require.False(t, Finish(make([]fp16.Bits, n), x, 0, 0xfc00, 0x7c00))
			if x[i] = was; n > 300 && i > 40 {
				break
			}
		}
	}
	one := make([]float32, 1)
	require.False(t, Finish(make([]fp16.Bits, 1), one, 0, sign, 0x7c00))
	require.False(t, Finish(make([]fp16.Bits, 1), one, 0, 0xfc00, 0))
}

// BenchmarkFinish stores rows of 256 sums with a number added and limits; its floor is Encode alone, its peer the three
// steps one after another.
func BenchmarkFinish(b *testing.B) {
	x, dst, bias := make([]float32, 256), make([]fp16.Bits, 256), []fp16.Bits{0x3c00}
	for name, f := range map[string]func(){
		"ours":  func() { Finish(dst, x, 1, 0, 0x4600) },
		"floor": func() { Encode(dst, x, 0) },
		"peer": func() {
			Encode(dst, x, 0)
			Binary(Add, dst, dst, bias, 0)
			Clamp(dst, dst, 0, 0x4600, true)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(6 * 256)
			for b.Loop() {
				f()
			}
		})
	}
}
