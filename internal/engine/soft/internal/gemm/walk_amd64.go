package gemm

func hasWalk() bool { return machine.kernel != portable }

//go:noescape
func walkExact(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

//go:noescape
func walkFours(sums *float64, a *float32, least *int32, b *float32, n, k, depth int)

// walkTile sums depth products, a multiple of four for Fours.
func walkTile(sums *float64, a *float32, least *int32, b *float32, n, k, depth, how int) {
	if how == Fours {
		walkFours(sums, a, least, b, n, k, depth)
		return
	}
	walkExact(sums, a, least, b, n, k, depth)
}
