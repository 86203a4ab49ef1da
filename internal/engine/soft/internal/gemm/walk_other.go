//go:build !amd64

package gemm

func hasWalk() bool { return false }

// The Go code is used, and so this is not called.
func walkTile(*[WalkRows * WalkColumns]float64, []float32, []int32, *float32, int, int, int, int, int, bool) {
}

func walkWidth(int) int { return narrowWalk }
