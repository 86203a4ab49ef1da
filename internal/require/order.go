package require

import (
	"cmp"
	"math"
	"testing"
)

// Less requires a < b.
func Less[T cmp.Ordered](tb testing.TB, a, b T, message ...any) {
	if !(a < b) {
		tb.Helper()
		fail(tb, message, "got %v, want less than %v", a, b)
	}
}

// LessOrEqual requires a <= b.
func LessOrEqual[T cmp.Ordered](tb testing.TB, a, b T, message ...any) {
	if !(a <= b) {
		tb.Helper()
		fail(tb, message, "got %v, want at most %v", a, b)
	}
}

// Greater requires a > b.
func Greater[T cmp.Ordered](tb testing.TB, a, b T, message ...any) {
	if !(a > b) {
		tb.Helper()
		fail(tb, message, "got %v, want more than %v", a, b)
	}
}

// GreaterOrEqual requires a >= b.
func GreaterOrEqual[T cmp.Ordered](tb testing.TB, a, b T, message ...any) {
	if !(a >= b) {
		tb.Helper()
		fail(tb, message, "got %v, want at least %v", a, b)
	}
}

// number is what has a sign.
type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// Positive requires v > 0.
func Positive[T number](tb testing.TB, v T, message ...any) {
	if !(v > 0) {
		tb.Helper()
		fail(tb, message, "got %v, want more than 0", v)
	}
}

// InDelta requires that the values differ by at most delta. A NaN differs from all but a NaN.
func InDelta[A, B number](tb testing.TB, want A, got B, delta float64, message ...any) {
	if !near(float64(want), float64(got), delta) {
		tb.Helper()
		fail(tb, message, "got  %v\nwant %v within %v", got, want, delta)
	}
}

// InEpsilon requires that the values differ by at most epsilon times want, which is not 0.
func InEpsilon[A, B number](tb testing.TB, want A, got B, epsilon float64, message ...any) {
	if w := float64(want); w == 0 || !near(w, float64(got), epsilon*math.Abs(w)) {
		tb.Helper()
		fail(tb, message, "got  %v\nwant %v within %v of it", got, want, epsilon)
	}
}

func near(want, got, delta float64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) && math.IsNaN(got)
	}
	return want == got || math.Abs(want-got) <= delta
}
