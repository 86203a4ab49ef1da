//go:build linux || darwin

package kernbench

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Constants of cblas.
const (
	rowMajor = 101
	plain    = 111
)

// libraries are the names under which systems install OpenBLAS.
var libraries = []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
	"/opt/homebrew/opt/openblas/lib/libopenblas.dylib"}

// openBLAS loads the library where it is installed.
func openBLAS() (multiply, error) {
	var lib uintptr
	var err error
	for _, name := range libraries {
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("OpenBLAS is not installed: %w", errors.ErrUnsupported)
	}
	var threads func(n int32)
	var sgemm func(order, transA, transB, m, n, k int32, alpha float32, a *float32, lda int32, b *float32, ldb int32,
		beta float32, c *float32, ldc int32)
	purego.RegisterLibFunc(&threads, lib, "openblas_set_num_threads")
	purego.RegisterLibFunc(&sgemm, lib, "cblas_sgemm")
	threads(1)
	return func(c, a, b []float32, n int) {
		size := int32(n)
		sgemm(rowMajor, plain, plain, size, size, size, 1, &a[0], size, &b[0], size, 0, &c[0], size)
	}, nil
}
