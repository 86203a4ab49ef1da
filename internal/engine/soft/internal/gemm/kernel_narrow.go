//go:build !amd64

package gemm

// No kernel is AVX2 or wider, and so none of these is called.

func walkTile(*float64, *float32, *int32, *float32, int, int, int, bool, bool, bool) {}
func interleaveTiles(*float32, int, *[Interleaved]*float32, int)                     {}
