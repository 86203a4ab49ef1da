package gemm

const neon = "neon"

// detect needs no check: every ARMv8-A processor that Go supports has Advanced
// SIMD.
func detect() string { return neon }

// choose returns the pieces for n columns, n >= narrow.
func choose(int) pieces { return pieces{rows: tall, cols: narrow, long: 64} }

//go:noescape
func tile128(c, a, b *float32, n, k, depth int, add bool)

//go:noescape
func line128(c, a, b *float32, n, depth int, add bool)

//go:noescape
func band128(c, a, b *float32, n, depth int, add bool)

func (pieces) tile(c, a, b *float32, n, k, depth int, add bool) { tile128(c, a, b, n, k, depth, add) }
func (pieces) line(c, a, b *float32, n, depth int, add bool)    { line128(c, a, b, n, depth, add) }
func (pieces) band(c, a, b *float32, n, depth int, add bool)    { band128(c, a, b, n, depth, add) }
