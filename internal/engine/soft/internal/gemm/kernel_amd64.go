package gemm

// walkTile sums depth products of WalkRows rows of 16 columns if it is wide, else of two rows of 8. depth is a multiple
// of four for Fours. With inside it looks at the sums inside their groups too.
//
//go:noescape
func walkTile(sums *float64, a *float32, least *int32, b *float32, n, k, depth int, fours, inside, wide bool)
