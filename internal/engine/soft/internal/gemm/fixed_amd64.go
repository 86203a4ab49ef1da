package gemm

func hasFixed(int) bool { return machine.kernel != portable }

//go:noescape
func fixed256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

//go:noescape
func fours256(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth int, add bool)

// fixedTile sums FixedRows rows of narrowFixed columns over depth rows of B, a multiple of four for Fours.
func fixedTile(sums *int32, sizes, a *float32, least *int32, b *float32, n, k, depth, how int, add bool) {
	if how == Fours {
		fours256(sums, sizes, a, least, b, n, k, depth, add)
		return
	}
	fixed256(sums, sizes, a, least, b, n, k, depth, add)
}
