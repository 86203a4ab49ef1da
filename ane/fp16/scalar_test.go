package fp16

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKnownValues(t *testing.T) {
	const smallestNormal = 0x1p-14
	cases := []struct {
		name string
		f    float64
		want Bits
	}{
		{"zero", 0, 0x0000},
		{"minus zero", math.Copysign(0, -1), 0x8000},
		{"one", 1, 0x3c00},
		{"minus two", -2, 0xc000},
		{"third", 1.0 / 3, 0x3555},
		{"largest", MaxValue, 0x7bff},
		{"just under the overflow tie", 65519.996, 0x7bff},
		{"overflow tie", 65520, 0x7c00},
		{"65536", 65536, 0x7c00},
		{"minus overflow", -65520, 0xfc00},
		{"largest float32", math.MaxFloat32, 0x7c00},
		{"infinity", math.Inf(1), Inf},
		{"minus infinity", math.Inf(-1), 0xfc00},
		{"NaN", math.NaN(), NaN},
		{"smallest normal", smallestNormal, 0x0400},
		{"largest subnormal", smallestNormal - SmallestSubnormal, 0x03ff},
		{"tie into normal", smallestNormal - SmallestSubnormal/2, 0x0400},
		{"smallest subnormal", SmallestSubnormal, 0x0001},
		{"tie to zero", SmallestSubnormal / 2, 0x0000},
		{"minus tie to zero", -SmallestSubnormal / 2, 0x8000},
		{"above tie to zero", SmallestSubnormal / 2 * (1 + 0x1p-20), 0x0001},
		{"tie to even up", 1.5 * SmallestSubnormal, 0x0002},
		{"tie to even down", 2.5 * SmallestSubnormal, 0x0002},
		{"smallest float32", math.SmallestNonzeroFloat32, 0x0000},
		{"2049 ties down", 2049, 0x6800},
		{"2051 ties up", 2051, 0x6802},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, FromFloat32(float32(c.f)), "FromFloat32")
			require.Equal(t, c.want, FromFloat64(c.f), "FromFloat64")
		})
	}
}

func TestFloat32AllHalves(t *testing.T) {
	for i := range 1 << 16 {
		b := Bits(i)
		got := b.Float32()
		if b.IsNaN() {
			want := uint32(b>>15)<<31 | 0x7fc00000 | uint32(b%1024)<<13
			require.Equal(t, want, math.Float32bits(got), "%#04x", i)
			require.Equal(t, b|quietBit, FromFloat32(got), "%#04x", i)
			continue
		}
		require.Equal(t, math.Float64bits(referenceValue(b)), math.Float64bits(float64(got)), "%#04x", i)
		require.Equal(t, b, FromFloat32(got), "%#04x", i)
		require.Equal(t, b, FromFloat64(float64(got)), "%#04x", i)
	}
}

func TestClasses(t *testing.T) {
	nan, inf := 0, 0
	for i := range 1 << 16 {
		b := Bits(i)
		require.Equal(t, math.IsNaN(float64(b.Float32())), b.IsNaN(), "%#04x", i)
		require.Equal(t, math.IsInf(float64(b.Float32()), 0), b.IsInf(), "%#04x", i)
		if b.IsNaN() {
			nan++
		}
		if b.IsInf() {
			inf++
		}
	}
	require.Equal(t, 2*1023, nan)
	require.Equal(t, 2, inf)
}

// checkFloat32 compares FromFloat32 and FromFloat64 with the reference.
func checkFloat32(t *testing.T, u uint32) {
	f := math.Float32frombits(u)
	var want Bits
	if f != f {
		want = referenceNaN(u)
	} else {
		want = referenceRound(float64(f))
	}
	if got := FromFloat32(f); got != want {
		require.Equal(t, want, got, "FromFloat32 of %#08x (%g)", u, f)
	}
	// Made from bits: a conversion by the processor would make a NaN quiet.
	d := math.Float64bits(float64(f))
	if f != f {
		d = uint64(u>>31)<<63 | 0x7ff<<52 | uint64(u%(1<<23))<<29
	}
	if got := FromFloat64(math.Float64frombits(d)); got != want {
		require.Equal(t, want, got, "FromFloat64 of %#08x (%g)", u, f)
	}
}

func TestFromFloat32Neighbors(t *testing.T) {
	for _, u := range neighborhoods() {
		checkFloat32(t, u)
	}
}

func TestFromFloat32Random(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000_000 {
		checkFloat32(t, r.Uint32())
	}
	for range 1_000_000 { // where halves are: exponents 2^-27 to 2^17
		checkFloat32(t, r.Uint32()&(1<<31|1<<23-1)|(100+r.Uint32N(45))<<23)
	}
}

// TestFromFloat64RoundsOnce converts doubles so close to each tie that float32 rounds
// them to the tie.
func TestFromFloat64RoundsOnce(t *testing.T) {
	for b := Bits(0); b < Inf; b++ {
		low, high := referenceValue(b), referenceValue(b+1)
		if b+1 == Inf {
			high = 65536
		}
		tie := (low + high) / 2
		for sign, b := range map[float64]Bits{1: b, -1: b | signMask} {
			even := b + b&1
			require.Equal(t, even, FromFloat64(sign*tie), "tie above %#04x", b)
			require.Equal(t, b, FromFloat64(sign*math.Nextafter(tie, 0)), "below the tie above %#04x", b)
			require.Equal(t, b+1, FromFloat64(sign*math.Nextafter(tie, 1e6)), "above the tie above %#04x", b)
		}
	}
}

func TestFromFloat64Random(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1_000_000 {
		u := r.Uint64()
		if r.IntN(4) > 0 { // where halves are
			u = u&(1<<63|1<<52-1) | (995+r.Uint64N(46))<<52
		}
		f := math.Float64frombits(u)
		if f != f {
			continue
		}
		if want, got := referenceRound(f), FromFloat64(f); got != want {
			require.Equal(t, want, got, "%#016x (%g)", u, f)
		}
	}
	for _, f := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, 0x1p-150, 1e300} {
		require.Equal(t, referenceRound(f), FromFloat64(f), "%g", f)
		require.Equal(t, referenceRound(-f), FromFloat64(-f), "%g", -f)
	}
}

func TestFromFloat64NaN(t *testing.T) {
	cases := []struct {
		u    uint64
		want Bits
	}{
		{0x7ff0000000000001, 0x7e00}, // signaling, payload lost
		{0xfff0000000000001, 0xfe00},
		{0x7ff8000000000000, 0x7e00},
		{0x7fffffffffffffff, 0x7fff},
		{0xfff4040000000000, 0xff01}, // signaling, payload kept and quieted
	}
	for _, c := range cases {
		require.Equal(t, c.want, FromFloat64(math.Float64frombits(c.u)), "%#x", c.u)
	}
}
