package blas

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/anekit/anekit/internal/errtext"
)

// Library is a loaded library with the C interface of BLAS. Open and OpenFile return one; it is never unloaded.
// The methods of a nil or zero Library return ErrUnavailable.
type Library struct {
	name string
	call gemm
}

// gemm is cblas_sgemm of row-major matrices.
type gemm func(transA, transB, m, n, k int32, alpha float32, a, b Matrix, beta float32, c Matrix)

// Numbers of cblas.h.
const (
	rowMajor   = 101
	noTrans    = 111
	transposed = 112
)

// Open loads the library of the system: Accelerate on macOS, libopenblas.so.0 on Linux (Debian's libopenblas0).
// The error matches ErrUnavailable.
func Open() (*Library, error) { return open(systemFile, systemName) }

// OpenFile loads the library in a file, which exports cblas_sgemm with 32-bit dimensions: libblas.so.3 of another
// vendor, for instance. The error matches ErrUnavailable.
func OpenFile(path string) (*Library, error) {
	if path == "" || strings.ContainsRune(path, 0) { // an empty one would be this program
		return nil, &Error{Base: errtext.Base{Op: "open", Err: ErrUnavailable, Hint: "give the name of a file"},
			What: path}
	}
	return open(path, path)
}

// Name is "Accelerate", what OpenBLAS says of itself ("OpenBLAS 0.3.21 ... Haswell MAX_THREADS=64"), or the path.
func (l *Library) Name() string {
	if l == nil {
		return ""
	}
	return l.name
}

// Product computes c = a b. c has a's rows and b's columns, and shares no memory with them. c may be the T of a
// matrix in memory.
//
// Errors: ErrUnavailable, ErrShape, ErrShort, ErrOverlap. After an error c is unchanged.
func (l *Library) Product(c, a, b Matrix) error { return l.product(c, a, b, 0) }

// ProductAdd computes c = a b + c. Everything else is as for Product. Errors included.
func (l *Library) ProductAdd(c, a, b Matrix) error { return l.product(c, a, b, 1) }

func (l *Library) product(c, a, b Matrix, beta float32) error {
	if l == nil || l.call == nil {
		return &Error{Base: errtext.Base{Op: "product", Err: ErrUnavailable, Hint: "open a Library first"}}
	}
	if err := cmp.Or(c.check("c"), a.check("a"), b.check("b")); err != nil {
		return err
	}
	if a.Cols != b.Rows || c.Rows != a.Rows || c.Cols != b.Cols {
		return &Error{Base: errtext.Base{Op: "product", Err: ErrShape,
			Hint: fmt.Sprintf("%d x %d times %d x %d does not give %d x %d",
				a.Rows, a.Cols, b.Rows, b.Cols, c.Rows, c.Cols)}}
	}
	if c.overlaps(a) || c.overlaps(b) {
		return &Error{Base: errtext.Base{Op: "product", Err: ErrOverlap, Hint: "take another span for the result"},
			What: "c"}
	}
	if c.Rows == 0 || c.Cols == 0 {
		return nil
	}
	if c.transposed { // the library writes rows, so it computes the transposed product
		c, a, b = c.T(), b.T(), a.T()
	}
	if a.Cols == 0 { // an empty sum; the library would not accept the strides
		if beta == 0 {
			for r := range c.Rows {
				clear(c.Data[r*c.Stride:][:c.Cols])
			}
		}
		return nil
	}
	l.call(a.trans(), b.trans(), int32(c.Rows), int32(c.Cols), int32(a.Cols), 1, a, b, beta, c)
	return nil
}

func (m Matrix) trans() int32 {
	if m.transposed {
		return transposed
	}
	return noTrans
}

// overlaps reports whether the memory from the first to the last element of the two has a byte in common.
func (m Matrix) overlaps(n Matrix) bool {
	end := func(m Matrix) uintptr {
		rows, length := m.stored()
		return m.address() + 4*uintptr((rows-1)*m.Stride+length)
	}
	if m.Rows == 0 || m.Cols == 0 || n.Rows == 0 || n.Cols == 0 {
		return false
	}
	return m.address() < end(n) && n.address() < end(m)
}
