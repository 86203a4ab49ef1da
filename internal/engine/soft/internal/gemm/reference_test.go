package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// eachKernel runs f once for every kernel that the processor has.
func eachKernel(t *testing.T, f func(t *testing.T)) {
	for _, kernel := range simd.Levels() {
		t.Run(kernel.String(), func(t *testing.T) {
			use(t, kernel)
			f(t)
		})
	}
}

// use makes Mul use one kernel until the test ends.
func use(tb testing.TB, kernel simd.Level) {
	old := machine
	tb.Cleanup(func() { machine = old })
	machine = kernel
}

// loop is the plain triple loop. step adds one product to a sum.
func loop(c, a, b []float32, m, k, n int, step func(sum, x, y float32) float32) {
	for i := range m {
		for j := range n {
			var sum float32
			for p := range k {
				sum = step(sum, a[i*k+p], b[p*n+j])
			}
			c[i*n+j] = sum
		}
	}
}

// rounded multiplies, rounds, adds and rounds.
func rounded(sum, x, y float32) float32 { return sum + float32(x*y) }

// fused rounds once. The product is exact in float64. The sum is rounded to odd
// there, so that the second rounding, to float32, is correct.
func fused(sum, x, y float32) float32 {
	p, s := float64(x)*float64(y), float64(sum)
	total := p + s
	back := total - p
	lost := (p - (total - back)) + (s - back)
	if bits := math.Float64bits(total); lost != 0 && bits&1 == 0 {
		if (lost > 0) == (total > 0) {
			bits++
		} else {
			bits--
		}
		total = math.Float64frombits(bits)
	}
	return float32(total)
}

// own is the step of the kernel in use.
func own() func(sum, x, y float32) float32 {
	if machine == simd.Portable {
		return rounded
	}
	return fused
}

// sameBits requires equal bits. All NaNs count as equal.
func sameBits(t *testing.T, want, got []float32, format string, args ...any) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) && (want[i] == want[i] || got[i] == got[i]) {
			t.Fatalf("different bits: element %d: want %v (%#x), got %v (%#x); %s", i,
				want[i], math.Float32bits(want[i]), got[i], math.Float32bits(got[i]), fmt.Sprintf(format, args...))
		}
	}
}

// halves returns n finite fp16 values of all magnitudes, including zeros of
// both signs.
func halves(r *rand.Rand, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		h := fp16.Bits(r.Uint32())
		if h&0x7c00 == 0x7c00 {
			h &^= 0x4000
		}
		if r.IntN(16) == 0 {
			h &= 0x8000
		}
		all[i] = h.Float32()
	}
	return all
}

// normals returns n float32 values with full significands.
func normals(r *rand.Rand, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(r.NormFloat64())
	}
	return all
}
