package halves

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// TestFinish: it is Encode, Binary and Clamp one after another, and declines NaN.
func TestFinish(t *testing.T) {
	if !Vectors() {
		t.Skip("this machine has no kernel for it")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range lengths[1:] { // the first is 0
		pitch, rows := n+n%3, 1+n%4
		a, _ := values(r, rows*n)
		x := make([]float32, rows*n)
		for i, h := range finite(a) { // at and around halves and their ties
			x[i] = math.Float32frombits(math.Float32bits(h.Float32()) + []uint32{0, 0x1000, 0xfff, 0x1001}[r.IntN(4)])
		}
		for i := range n / 9 {
			x[i*9] = []float32{float32(math.Inf(1)), float32(math.Inf(-1)), 65520, -65520, 0x1p-25, -0x1p-26}[r.IntN(6)]
		}
		for _, bias := range append(edges[:14:14], 0x8000, 0x8001, 0xbc00, 0xfbff) {
			for _, ends := range [][2]fp16.Bits{{0xfc00, 0x7c00}, {0, 0x7c00}, {0, 0x4600}, {0x3c00, 0xbc00},
				{0xbc00, 0x8000}, {0, 0x8000}, {0x0001, 0x03ff}} {
				want, got := make([]fp16.Bits, rows*pitch), make([]fp16.Bits, rows*pitch)
				more, nan := make([]float32, rows), false
				for i := range want {
					want[i], got[i] = 0x1234, 0x1234
				}
				for i := range rows {
					number, line := bias^fp16.Bits(i), want[i*pitch:][:n]
					more[i] = number.Float32()
					Encode(line, x[i*n:][:n], 0)
					Binary(Add, line, line, []fp16.Bits{number}, 0)
					for _, h := range line {
						nan = nan || h.IsNaN()
					}
					Clamp(line, line, ends[0], ends[1], true)
				}
				require.Equal(t, !nan, Finish(got, pitch, x, more, ends[0].Float32(), ends[1].Float32()))
				if !nan {
					require.Equal(t, want, got, fmt.Sprint(n, bias, ends))
				}
			}
		}
		for i := range x { // a NaN anywhere
			was := x[i]
			x[i] = float32(math.NaN())
			require.False(t, Finish(make([]fp16.Bits, len(x)), n, x, make([]float32, rows), 0, 1))
			if x[i] = was; n > 300 && i > 40 {
				break
			}
		}
	}
}

// BenchmarkFinish stores rows of 256 sums with a number added and limits; its floor is Encode alone, its peer the three
// steps one after another.
func BenchmarkFinish(b *testing.B) {
	x, dst, bias, more := make([]float32, 256), make([]fp16.Bits, 256), []fp16.Bits{0x3c00}, []float32{1}
	for name, f := range map[string]func(){
		"ours":  func() { Finish(dst, 256, x, more, 0, 6) },
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
