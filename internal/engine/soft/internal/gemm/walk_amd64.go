package gemm

import "golang.org/x/sys/cpu"

// walkWidth is the columns of a piece of which b has left from its column on.
func walkWidth(left int) int {
	if left >= wideWalk && machine.kernel == avx512 && cpu.X86.HasAVX512DQ {
		return wideWalk
	}
	return narrowWalk
}

func hasWalk() bool { return machine.kernel != portable }

//go:noescape
func walkExact(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkFours(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkExact512(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkFours512(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkInside(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkInside512(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

// walkTile sums depth products, a multiple of four for Fours. With inside it looks at the sums inside their groups too.
// The kernels of 256 bits sum two rows.
func walkTile(
	sums *[WalkRows * WalkColumns]float64, a []float32, least []int32, b *float32, n, k, depth, how, width int,
	inside bool,
) {
	if width == wideWalk {
		switch {
		case how == Fours && inside:
			walkInside512(&sums[0], &a[0], &least[0], b, n, k, depth)
		case how == Fours:
			walkFours512(&sums[0], &a[0], &least[0], b, n, k, depth)
		default:
			walkExact512(&sums[0], &a[0], &least[0], b, n, k, depth)
		}
		return
	}
	for r := 0; r < WalkRows; r += 2 {
		switch {
		case how == Fours && inside:
			walkInside(&sums[r*width], &a[r*k], &least[r*k], b, n, k, depth)
		case how == Fours:
			walkFours(&sums[r*width], &a[r*k], &least[r*k], b, n, k, depth)
		default:
			walkExact(&sums[r*width], &a[r*k], &least[r*k], b, n, k, depth)
		}
	}
}
