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

// multiply is a product of matrices of float32 in one thread: c, of m rows and n columns, of a, b and k.
type multiply func(c, a, b []float32, m, k, n int)

// Peers are products of halves and of float32 beside those of other libraries: OpenBLAS with float32, where it is
// installed, and gonum.
func Peers() (all []measure.Case) {
	squares := [][3]int{{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {2048, 2048, 2048}}
	for _, peer := range []struct {
		name, letter, kind string // letter: of the type of elements
		target             float64
		open               func() (multiply, error)
		shapes             [][3]int
	}{{"OpenBLAS", "h", "fp16", 1.05, openBLAS, append(squares, [3]int{16, 2048, 2048}, [3]int{1, 4096, 4096})},
		{"OpenBLAS", "s", "float32", 1.05, openBLAS, squares},
		{"gonum", "s", "float32", 1.0 / 8, func() (multiply, error) { return byGonum, nil }, squares}} {
		for _, s := range peer.shapes {
			m, k, n := s[0], s[1], s[2]
			program := text(fmt.Sprintf("%[1]s[%[2]d,%[3]d] x, %[1]s[%[3]d,%[4]d] z", peer.letter, m, k, n),
				fmt.Sprintf("%s[%d,%d] y = matmul(x = x, y = z);", peer.letter, m, n))
			floor := func(*step.T) measure.Loop {
				by := step.Must(peer.open())
				c, a, b := make([]float32, m*n), make([]float32, m*k), make([]float32, k*n)
				for i := range a {
					a[i] = float32(i % 7)
				}
				for i := range b {
					b[i] = float32(i % 5)
				}
				return measure.Repeat(func() error { by(c, a, b, m, k, n); return nil })
			}
			all = append(all, kernel(fmt.Sprintf("%s product %dx%dx%d, %s", peer.kind, m, k, n, peer.name), m*k*n,
				one(program), floor, peer.target))
		}
	}
	return all
}

func byGonum(c, a, b []float32, m, k, n int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	gonum.Implementation{}.Sgemm(blasgonum.NoTrans, blasgonum.NoTrans, m, n, k, 1, a, k, b, n, 0, c, n)
}

// openBLAS loads the library under the names by which systems install it.
func openBLAS() (multiply, error) {
	if err := os.Setenv("OPENBLAS_NUM_THREADS", "1"); err != nil {
		return nil, err
	}
	for _, name := range []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
		"/opt/homebrew/opt/openblas/lib/libopenblas.dylib"} {
		if l, err := blas.OpenFile(name); err == nil {
			return func(c, a, b []float32, m, k, n int) {
				on := func(data []float32, rows, columns int) blas.Matrix {
					return blas.Matrix{Data: data, Rows: rows, Cols: columns, Stride: columns}
				}
				_ = l.Product(on(c, m, n), on(a, m, k), on(b, k, n)) // the shapes fit
			}, nil
		}
	}
	return nil, fmt.Errorf("OpenBLAS is not installed: %w", errors.ErrUnsupported)
}
