package gemm

import "golang.org/x/sys/cpu"

func hasFixed(int) bool { return machine.kernel != portable }

// wideFixed is the width of a piece of 512-bit registers.
const wideFixed = 16

// fixedWidth is the width of the pieces for n columns, n >= narrowFixed.
func fixedWidth(n int) int {
	if machine.kernel == avx512 && cpu.X86.HasAVX512CD && n >= wideFixed {
		return wideFixed
	}
	return narrowFixed
}

//go:noescape
func fixed256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

//go:noescape
func fours256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

//go:noescape
func fixed512(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

//go:noescape
func fours512(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

// fixedTile sums FixedRows rows of width columns over depth rows of B, a multiple of four for Fours.
func fixedTile(
	sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth, how, width int, add bool,
) {
	switch {
	case how == Fours && width == wideFixed:
		fours512(sums, sizes, a, least, b, n, k, depth, add)
	case how == Fours:
		fours256(sums, sizes, a, least, b, n, k, depth, add)
	case width == wideFixed:
		fixed512(sums, sizes, a, least, b, n, k, depth, add)
	default:
		fixed256(sums, sizes, a, least, b, n, k, depth, add)
	}
}
