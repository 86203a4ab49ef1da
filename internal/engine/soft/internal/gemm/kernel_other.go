//go:build !amd64 && !arm64

package gemm

func detect() string { return portable }

func mul(c, a, b []float32, m, k, n int) { mulPortable(c, a, b, m, k, n) }

func slide(c, a, b []float32, step int, add bool) { slidePortable(c, a, b, step, add) }

func fixed(sums []int32, sizes, a []float32, least []int32, b []float32, m, k, n, how int) {
	fixedPortable(sums, sizes, a, least, b, m, k, n, how, 0)
}
