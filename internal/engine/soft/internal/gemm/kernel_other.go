//go:build !amd64 && !arm64

package gemm

func detect() string { return portable }

func mul(c, a, b []float32, m, k, n int) { mulPortable(c, a, b, m, k, n) }
