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
func walkTile(sums *float64, a *float32, least *int32, b *float32, n, k, depth, how, width int, inside bool) {
	switch {
	case how == Fours && inside && width == wideWalk:
		walkInside512(sums, a, least, b, n, k, depth)
	case how == Fours && inside:
		walkInside(sums, a, least, b, n, k, depth)
	case how == Fours && width == wideWalk:
		walkFours512(sums, a, least, b, n, k, depth)
	case how == Fours:
		walkFours(sums, a, least, b, n, k, depth)
	case width == wideWalk:
		walkExact512(sums, a, least, b, n, k, depth)
	default:
		walkExact(sums, a, least, b, n, k, depth)
	}
}
