//go:build amd64 || arm64

package gemm

func slide(c, a, b []float32, step int, add bool) {
	if machine.kernel == portable {
		slidePortable(c, a, b, step, add)
		return
	}
	p := choose(SlideWidth)
	for d := 0; d < len(a); d += depthMax {
		depth, add, from, j := min(depthMax, len(a)-d), add || d > 0, d*step, 0
		for ; j+p.long <= len(c); j += p.long {
			p.band(&c[j], &a[d], &b[from+j], step, depth, add)
		}
		for ; j < len(c); j += p.cols {
			p.line(&c[j], &a[d], &b[from+j], step, depth, add)
		}
	}
}
