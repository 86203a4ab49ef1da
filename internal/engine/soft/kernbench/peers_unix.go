//go:build linux || darwin

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
)

// Constants of cblas.
const (
	rowMajor = 101
	plain    = 111
)

// libraries are the names under which systems install OpenBLAS.
var libraries = []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
	"/opt/homebrew/opt/openblas/lib/libopenblas.dylib"}

// peers compares products of float32 with those of OpenBLAS, where that is installed, with one thread.
func peers(part string) []string {
	if !strings.Contains("OpenBLAS", part) {
		return nil
	}
	var lib uintptr
	var err error
	for _, name := range libraries {
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			break
		}
	}
	if err != nil {
		return []string{"OpenBLAS\tskipped: it is not installed"}
	}
	var threads func(n int32)
	var sgemm func(order, transA, transB, m, n, k int32, alpha float32, a *float32, lda int32, b *float32, ldb int32,
		beta float32, c *float32, ldc int32)
	purego.RegisterLibFunc(&threads, lib, "openblas_set_num_threads")
	purego.RegisterLibFunc(&sgemm, lib, "cblas_sgemm")
	threads(1)
	var lines []string
	for _, n := range []int{256, 512, 1024, 2048} {
		c, a, b := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = float32(i%7), float32(i%5)
		}
		size := int32(n)
		ours, theirs, _ := takeTurns(func() error { tiles(c, a, b, n); return nil }, func() error {
			sgemm(rowMajor, plain, plain, size, size, size, 1, &a[0], size, &b[0], size, 0, &c[0], size)
			return nil
		})
		per := func(d time.Duration) string {
			return fmt.Sprintf("%.3g ns", float64(d.Nanoseconds())/float64(n)/float64(n)/float64(n))
		}
		lines = append(lines, fmt.Sprintf("float32 product %d\t%v\t%s\t%v\t%s\t%.2fx\t<= 1.00x\tOpenBLAS", n,
			ours.Round(time.Microsecond), per(ours), theirs.Round(time.Microsecond), per(theirs),
			float64(ours)/float64(theirs)))
	}
	return lines
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
