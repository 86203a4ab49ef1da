package gemm

const neon = "neon"

// detect has nothing to ask: Advanced SIMD is part of every ARMv8-A processor
// that Go runs on.
func detect() string { return neon }

// shape gives the size of a tile in rows and columns, and the columns of a band.
func shape() (rows, cols, band int) { return 4, 16, 64 }

//go:noescape
func tile(c, a, b *float32, n, k, depth int, add bool)

//go:noescape
func line(c, a, b *float32, n, depth int, add bool)

//go:noescape
func band(c, a, b *float32, n, depth int, add bool)
