package soft_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
)

// perType checks a property for each stored type.
func perType(t *testing.T, check func(t *rapid.T, d mil.DType)) {
	for _, d := range stored {
		t.Run(d.String(), rapid.MakeCheck(func(t *rapid.T) { check(t, d) }))
	}
}

// number draws a number from lo to hi.
func number(t *rapid.T, lo, hi int, label string) int { return rapid.IntRange(lo, hi).Draw(t, label) }

// oneIn draws true in one of n cases.
func oneIn(t *rapid.T, n int, label string) bool { return number(t, 0, n-1, label) == n-1 }

// either draws one of two values.
func either[V any](t *rapid.T, a, b V, label string) V {
	return rapid.SampledFrom([]V{a, b}).Draw(t, label)
}

// axisOf draws an axis of a rank, and the same one counted from the start or from the end.
func axisOf(t *rapid.T, rank int) (axis, given int) {
	axis = number(t, 0, rank-1, "axis")
	return axis, axis - either(t, 0, rank, "from the end")
}

// axesOf draws at least one of the axes of a rank, in any order, and the same ones counted from the start or the end.
func axesOf(t *rapid.T, rank int) (axes, given []int) {
	axes = rapid.SliceOfNDistinct(rapid.IntRange(0, rank-1), 1, rank, rapid.ID).Draw(t, "axes")
	for _, a := range axes {
		given = append(given, a-either(t, 0, rank, "from the end"))
	}
	return axes, given
}

// order draws an order of n things.
func order(t *rapid.T, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return rapid.Permutation(list).Draw(t, "order")
}

// shapes generates shapes of rank lo to hi with at most so many elements.
func shapes(lo, hi, most int) *rapid.Generator[[]int] {
	return rapid.Custom(func(t *rapid.T) []int {
		shape := rapid.SliceOfN(rapid.SampledFrom(axisLengths), lo, hi).Draw(t, "lengths")
		if k := len(shape); k > 0 && oneIn(t, 3, "packed") {
			shape[k-1] = 32 * number(t, 1, 2, "lines")
		}
		for i := 0; volume(shape) > most; i++ {
			shape[i] = 1
		}
		return shape
	})
}

func shapeOf(t *rapid.T, lo, hi, most int) []int { return shapes(lo, hi, most).Draw(t, "shape") }

// anyOf generates the values of a type.
func anyOf(d mil.DType) *rapid.Generator[float64] {
	switch {
	case d == mil.Bool:
		return rapid.SampledFrom([]float64{0, 1})
	case d.Integer():
		lo, hi := d.Range()
		return rapid.Map(rapid.Int64Range(int64(lo), int64(hi)), func(n int64) float64 { return float64(n) })
	}
	return rapid.Map(rapid.OneOf(rapid.SampledFrom(specials), rapid.Float64Range(-200, 200)),
		func(f float64) float64 { return load(d, store(d, f)) })
}

// usual generates those that are finite, of magnitudes up to 200, or whole numbers.
func usual(d mil.DType) *rapid.Generator[float64] {
	if !d.Float() {
		return anyOf(d)
	}
	return rapid.Map(rapid.Float64Range(-200, 200), func(f float64) float64 { return load(d, store(d, f)) })
}

// numbered is a value of a type that differs from those of other numbers as far as the type permits.
func numbered(d mil.DType, i int) float64 {
	switch {
	case d == mil.Bool:
		return float64(uint32(i) * 2654435761 >> 16 & 1)
	case d.Integer():
		lo, hi := d.Range()
		span := int64(hi) - int64(lo) + 1
		return float64(int64(lo) + (int64(i)*40503+1-int64(lo))%span)
	}
	k := i / 2 % 3072
	return math.Copysign(math.Ldexp(1+float64(k%1024)/1024, k/1024), float64(1-i%2*2))
}

// tensorOf makes a tensor whose elements differ from each other, but for a few that are drawn.
func tensorOf(t *rapid.T, values *rapid.Generator[float64], d mil.DType, shape ...int) nd {
	a := zeros(d, shape...)
	for i := range a.v {
		a.v[i] = numbered(d, i)
	}
	if len(a.v) == 0 {
		return a
	}
	for at, f := range rapid.MapOfN(rapid.IntRange(0, len(a.v)-1), values, 0, min(5, len(a.v))).
		Draw(t, "some elements") {
		a.v[at] = f
	}
	return a
}

// drawn makes a tensor of a type in which some elements may be special values.
func drawn(t *rapid.T, d mil.DType, shape ...int) nd { return tensorOf(t, anyOf(d), d, shape...) }

// constant draws whether an operand is a constant of the program.
func constant(t *rapid.T) bool { return oneIn(t, 5, "constant") }
