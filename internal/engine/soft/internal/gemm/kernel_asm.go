//go:build amd64 || arm64

package gemm

// The assembly keeps a piece of C in registers while it advances along k. A tile has several rows and columns, a line
// is one row of a tile, and a band is one row of several tiles. It reads and writes only whole pieces. n is the
// distance between rows of C and of B, k that between rows of A, depth (at least 1) the number of rows of B. Sums start
// from C if add is set, otherwise from +0. wide asks for the pieces of 512-bit registers.

//go:noescape
func tile(c, a, b *float32, n, k, depth int, add, wide bool)

//go:noescape
func line(c, a, b *float32, n, depth int, add, wide bool)

//go:noescape
func band(c, a, b *float32, n, depth int, add, wide bool)

// fixedTile sums FixedRows rows of columnsOf columns over depth rows of B, a multiple of four for Fours.
//
//go:noescape
func fixedTile(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add, fours, wide bool)
