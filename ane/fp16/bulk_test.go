package fp16

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// eachKernel runs f with the kernel of this machine and with the Go code. f compares
// each with the scalar functions, and so both with each other.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	best := machine.kernel
	t.Run(best, f)
	if best == portable {
		return
	}
	t.Run(portable, func(t *testing.T) {
		machine.kernel = portable
		defer func() { machine.kernel = best }()
		require.Equal(t, portable, Accelerated())
		f(t)
	})
}

func TestAccelerated(t *testing.T) {
	switch runtime.GOARCH {
	case "amd64":
		require.Contains(t, []string{"f16c", portable}, Accelerated())
	case "arm64":
		require.Equal(t, "neon", Accelerated())
	default:
		require.Equal(t, portable, Accelerated())
	}
	require.Equal(t, detect(), Accelerated())
}

// sameFloats and sameHalves compare encodings, so NaNs and zeros count too. They
// report one element: a listing of both slices would take minutes to print.
func sameFloats(t *testing.T, want, got []float32) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if w, g := math.Float32bits(want[i]), math.Float32bits(got[i]); w != g {
			require.Equal(t, w, g, "element %d of %d: want %#08x, got %#08x", i, len(want), w, g)
		}
	}
}

func sameHalves(t *testing.T, want, got []Bits) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			require.Equal(t, want[i], got[i], "element %d of %d", i, len(want))
		}
	}
}

// checkEncode compares Encode and Round of src with the scalar function.
func checkEncode(t *testing.T, src []float32) {
	t.Helper()
	want := make([]Bits, len(src))
	wide := make([]float32, len(src))
	for i, f := range src {
		want[i] = FromFloat32(f)
		wide[i] = want[i].Float32()
	}
	got := make([]Bits, len(src))
	require.Equal(t, len(src), Encode(got, src))
	sameHalves(t, want, got)
	rounded := make([]float32, len(src))
	Round(rounded, src)
	sameFloats(t, wide, rounded)
	inPlace := append([]float32(nil), src...)
	Round(inPlace, inPlace)
	sameFloats(t, wide, inPlace)
}

func TestDecodeAllHalves(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		src := allHalves()
		want := make([]float32, len(src))
		for i, b := range src {
			want[i] = b.Float32()
		}
		got := make([]float32, len(src))
		require.Equal(t, len(src), Decode(got, src))
		sameFloats(t, want, got)
	})
}

func TestEncodeNeighbors(t *testing.T) {
	eachKernel(t, func(t *testing.T) { checkEncode(t, floats(neighborhoods())) })
}

func TestEncodeRandom(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		checkEncode(t, randomFloats(rand.New(rand.NewPCG(5, 6)), effort.Cases(4_000_000)))
	})
}

// TestStretches converts slices longer than a stretch.
func TestStretches(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, n := range []int{stretch - 1, stretch, stretch + 1, stretch + 7, stretch + 9, 2*stretch + 3} {
			checkEncode(t, randomFloats(r, n))
			src := make([]Bits, n)
			want := make([]float32, n)
			for i := range src {
				src[i] = Bits(r.Uint32())
				want[i] = src[i].Float32()
			}
			got := make([]float32, n)
			require.Equal(t, n, Decode(got, src))
			sameFloats(t, want, got)
		}
	})
}

func TestCounts(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, c := range []struct{ dst, src, want int }{
			{0, 0, 0}, {0, 9, 0}, {9, 0, 0}, {3, 20, 3}, {20, 3, 3}, {40, 33, 33}, {33, 40, 33},
		} {
			require.Equal(t, c.want, Encode(make([]Bits, c.dst), make([]float32, c.src)))
			require.Equal(t, c.want, Decode(make([]float32, c.dst), make([]Bits, c.src)))
			dst := make([]float32, c.dst)
			src := make([]float32, c.src)
			for i := range src {
				src[i] = 1
			}
			Round(dst, src)
			for i := range dst {
				require.Equal(t, i < c.want, dst[i] == 1, "element %d of %v", i, c)
			}
		}
		require.Zero(t, Encode(nil, nil))
		require.Zero(t, Decode(nil, nil))
		Round(nil, nil)
	})
}

func TestNoAllocations(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			var wide [100]float32 // on the stack, unless a call makes it escape
			var half [100]Bits
			Encode(half[:], wide[:])
			Decode(wide[:], half[:])
			Round(wide[:], wide[:])
		}))
	})
}

// Finite finds each infinity and each NaN at each place of a slice, and no other half.
func TestFinite(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		require.True(t, Finite(nil))
		for _, b := range allHalves() {
			want := b&0x7c00 != 0x7c00
			require.Equal(t, want, Finite([]Bits{b}), "%#04x", uint16(b))
			src := make([]Bits, 70)
			src[int(b)%70] = b
			require.Equal(t, want, Finite(src), "%#04x", uint16(b))
		}
		for n := range 140 {
			src := make([]Bits, n)
			for i := range src {
				src[i] = Bits(0x7bff | i<<15)
			}
			require.True(t, Finite(src), n)
			for i, b := range src {
				src[i] = 0x7c00
				require.False(t, Finite(src), "%d of %d", i, n)
				src[i] = b
			}
		}
		long := make([]Bits, 2*stretch+1)
		require.True(t, Finite(long))
		long[len(long)-1] = Inf
		require.False(t, Finite(long))
	})
}
