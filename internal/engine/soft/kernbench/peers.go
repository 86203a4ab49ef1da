package kernbench

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	blasgonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/blas"
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
			square := fmt.Sprintf("s[%d,%d]", n, n)
			program := text(square+" x, "+square+" z", square+" y = matmul(x = x, y = z);")
			floor := func(*step.T) measure.Loop {
				by := step.Must(peer.open())
				c, a, b := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
				for i := range a {
					a[i], b[i] = float32(i%7), float32(i%5)
				}
				return measure.Repeat(func() error { by(c, a, b, n); return nil })
			}
			all = append(all, kernel(fmt.Sprintf("float32 product %d, %s", n, peer.name), n*n*n, one(program), floor,
				peer.target))
		}
	}
	return all
}

func byGonum(c, a, b []float32, n int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	gonum.Implementation{}.Sgemm(blasgonum.NoTrans, blasgonum.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
}

// openBLAS loads the library under the names by which systems install it.
func openBLAS() (multiply, error) {
	if err := os.Setenv("OPENBLAS_NUM_THREADS", "1"); err != nil {
		return nil, err
	}
	for _, name := range []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
		"/opt/homebrew/opt/openblas/lib/libopenblas.dylib"} {
		if l, err := blas.OpenFile(name); err == nil {
			return func(c, a, b []float32, n int) {
				on := func(data []float32) blas.Matrix { return blas.Matrix{Data: data, Rows: n, Cols: n, Stride: n} }
				_ = l.Product(on(c), on(a), on(b)) // the shapes fit
			}, nil
		}
	}
	return nil, fmt.Errorf("OpenBLAS is not installed: %w", errors.ErrUnsupported)
}
