package soft_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
)

// castRef is the definition of cast: to floats rounds to nearest even, to
// integers truncates toward zero, clamps and maps NaN to 0, to bool is x != 0.
func castRef(f float64, to mil.DType) float64 {
	switch {
	case to == mil.Bool:
		if f != 0 {
			return 1
		}
		return 0
	case to.Integer():
		if math.IsNaN(f) {
			return 0
		}
		lo, hi := to.Range()
		return math.Trunc(math.Min(math.Max(f, float64(lo)), float64(hi)))
	}
	return f
}

func castCase(x nd, to mil.DType, fixed bool) operation {
	want := zeros(to, x.shape...)
	for i, f := range x.v {
		want.v[i] = castRef(f, to)
	}
	return operation{op: "cast", in: []operand{{"x", x, fixed}}, settings: fmt.Sprintf(", dtype = string(%q)", to),
		want: []nd{want}}
}

func TestCast(t *testing.T) {
	for _, to := range stored {
		t.Run("to "+to.String(), func(t *testing.T) {
			perType(t, func(t *rapid.T, from mil.DType) {
				x := drawn(t, from, shapeOf(t, 0, 5, 60)...)
				castCase(x, to, constant(t)).exact(t)
			})
		})
	}
}

// TestCastEveryHalf casts all 65,536 halves to every type, and every 16-bit
// integer to halves.
func TestCastEveryHalf(t *testing.T) {
	x, signed, unsigned := zeros(mil.FP16, 1<<16), zeros(mil.Int16, 1<<16), zeros(mil.UInt16, 1<<16)
	for i := range x.v {
		x.v[i], signed.v[i], unsigned.v[i] = halfValue(uint16(i)), float64(int16(i)), float64(i)
	}
	for _, to := range stored {
		castCase(x, to, false).exact(t)
	}
	castCase(signed, mil.FP16, false).exact(t)
	castCase(unsigned, mil.FP16, false).exact(t)
}

// TestCastTies rounds values halfway between two halves to the even one.
func TestCastTies(t *testing.T) {
	x := nd{mil.FP32, []int{9}, []float64{2049, 2051, 1 + 0x1p-11, 1 + 3*0x1p-11, 0x1p-25, 0x1.000002p-25, 65519, 65520,
		-65520}}
	castCase(x, mil.FP16, false).exact(t)
	n := nd{mil.Int32, []int{6}, []float64{16777217, 16777219, -16777217, 2147483647, 2049, 65520}}
	castCase(n, mil.FP32, false).exact(t)
	castCase(n, mil.FP16, false).exact(t)
	ends := nd{mil.FP32, []int{4}, []float64{0x1p31, -0x1p31, 0x1.fffffep30, -0x1.000002p31}}
	castCase(ends, mil.Int32, false).exact(t)
}
