package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// SlideWidth divides the columns of Slide.
const SlideWidth = 32

// Slide sets each c[j] to the sum of the products a[i] * b[j+i*step], or adds these to it. They are added in the order
// and with the bits of Mul for a row a and rows of B that begin step elements apart, which may overlap. len(c) is a
// multiple of SlideWidth, b has (len(a)-1)*step + len(c) elements or more, and neither c nor a may be empty.
func Slide(c, a, b []float32, step int, add bool) {
	if len(c)%SlideWidth != 0 || len(c) == 0 || len(a) == 0 || step < 0 || len(b) < (len(a)-1)*step+len(c) {
		panic("BUG: gemm: wrong columns of a sliding product")
	}
	if machine == simd.Portable {
		if !add {
			clear(c)
		}
		for i, f := range a {
			addOne(c, b[i*step:], f)
		}
		return
	}
	choose(SlideWidth).lines(c, a, b, len(a), step, 0, 1, 0, len(c), add)
}
