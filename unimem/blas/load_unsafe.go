//go:build (darwin || (linux && cgo)) && (amd64 || arm64)

package blas

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/errtext"
)

func open(path, name string) (*Library, error) {
	// The loader stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrUnavailable, Hint: fmt.Sprintf("%v: %s", err,
			install)}, What: path}
	}
	address, err := purego.Dlsym(lib, "cblas_sgemm")
	if err != nil {
		_ = purego.Dlclose(lib) // the first failure is the one to report
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrUnavailable, Hint: fmt.Sprintf("%v: %s", err,
			install)}, What: path}
	}
	//	void cblas_sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int m, int n, int k,
	//	    float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
	var sgemm func(order, transA, transB, m, n, k int32, alpha float32, a *float32, lda int32, b *float32, ldb int32,
		beta float32, c *float32, ldc int32)
	purego.RegisterFunc(&sgemm, address)
	l := &Library{name: name}
	l.call = func(transA, transB, m, n, k int32, alpha float32, a, b Matrix, beta float32, c Matrix) {
		sgemm(rowMajor, transA, transB, m, n, k, alpha, unsafe.SliceData(a.Data), int32(a.Stride),
			unsafe.SliceData(b.Data), int32(b.Stride), beta, unsafe.SliceData(c.Data), int32(c.Stride))
	}
	if config, err := purego.Dlsym(lib, "openblas_get_config"); err == nil {
		var get func() string // char *openblas_get_config(void)
		purego.RegisterFunc(&get, config)
		l.name = strings.TrimSpace(get())
	}
	return l, nil
}
