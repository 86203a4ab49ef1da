package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlide compares with Mul: the rows of B are copied apart.
func TestSlide(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	eachKernel(t, func(t *testing.T) {
		for _, n := range []int{32, 64, 96, 128, 160, 320} {
			for _, k := range []int{1, 2, 3, 7, 16, depthMax, 300} {
				for _, step := range []int{0, 1, 3, 40} {
					a, b := normals(r, k), normals(r, (k-1)*step+n)
					apart, want, got := make([]float32, k*n), make([]float32, n), normals(r, n)
					for i := range k {
						copy(apart[i*n:][:n], b[i*step:])
					}
					Mul(want, a, apart, 1, k, n)
					Slide(got, a, b, step, false)
					sameBits(t, want, got, "%d sums of %d products, %d apart", n, k, step)
					part := r.IntN(k)
					if part > 0 {
						Slide(got, a[:part], b, step, false)
						Slide(got, a[part:], b[part*step:], step, true)
						sameBits(t, want, got, "%d sums of %d and %d products, %d apart", n, part, k-part, step)
					}
				}
			}
		}
	})
}

func TestSlideRefuses(t *testing.T) {
	list := func(n int) []float32 { return make([]float32, n) }
	for name, f := range map[string]func(){
		"columns":       func() { Slide(list(SlideWidth+1), list(2), list(100), 1, false) },
		"no columns":    func() { Slide(nil, list(2), list(100), 1, false) },
		"no products":   func() { Slide(list(SlideWidth), nil, list(100), 1, false) },
		"step":          func() { Slide(list(SlideWidth), list(2), list(100), -1, false) },
		"b":             func() { Slide(list(SlideWidth), list(3), list(2*5+SlideWidth-1), 5, false) },
		"b of one row":  func() { Slide(list(SlideWidth), list(1), list(SlideWidth-1), 5, false) },
		"b by capacity": func() { Slide(list(SlideWidth), list(3), list(100)[:2*5+SlideWidth-1], 5, false) },
	} {
		require.PanicsWithValue(t, "BUG: gemm: wrong columns of a sliding product", f, name)
	}
	Slide(list(SlideWidth), list(3), list(2*5+SlideWidth), 5, false)
}
