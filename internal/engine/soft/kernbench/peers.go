package kernbench

import (
	"context"
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/measure"
)

// multiply is a product of square matrices of float32 in one thread.
type multiply func(c, a, b []float32, n int)

// Peers are products of float32 beside those of other libraries: OpenBLAS, where it is installed, and gonum.
func Peers() (all []measure.Case) {
	for _, peer := range []struct {
		name   string
		target float64
		open   func() (multiply, error)
	}{{"OpenBLAS", 1, openBLAS}, {"gonum", 1.0 / 8, func() (multiply, error) { return byGonum, nil }}} {
		for _, n := range []int{256, 512, 1024, 2048} {
			all = append(all, kernel(fmt.Sprintf("float32 product %d, %s", n, peer.name), n*n*n,
				squares(n, func() (multiply, error) { return tiles, nil }), squares(n, peer.open), peer.target))
		}
	}
	return all
}

func byGonum(c, a, b []float32, n int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
}

// squares multiplies two matrices.
func squares(n int, open func() (multiply, error)) side {
	return func(context.Context) (once, done func() error, err error) {
		by, err := open()
		c, a, b := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = float32(i%7), float32(i%5)
		}
		return func() error { by(c, a, b, n); return nil }, func() error { return nil }, err
	}
}

// tiles multiplies by panels of B that stay in a cache, as the engine does.
func tiles(c, a, b []float32, n int) {
	const rows, cols = 32, 256
	panel, out := make([]float32, n*cols), make([]float32, rows*cols)
	for j := 0; j < n; j += cols {
		for k := range n {
			copy(panel[k*cols:][:cols], b[k*n+j:])
		}
		for i := 0; i < n; i += rows {
			gemm.Mul(out, a[i*n:(i+rows)*n], panel, rows, n, cols)
			for r := range rows {
				copy(c[(i+r)*n+j:][:cols], out[r*cols:])
			}
		}
	}
}
