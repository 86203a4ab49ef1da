package gemm

// Fours has no kernel here: the Go code sums them.
func hasFixed(how int) bool { return machine.kernel != portable && how == Exact }

func fixedWidth(int) int { return narrowFixed }

//go:noescape
func fixed128(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

// fixedTile sums FixedRows rows of narrowFixed columns over depth rows of B.
func fixedTile(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth, _, _ int, add bool) {
	fixed128(sums, sizes, a, least, b, n, k, depth, add)
}
