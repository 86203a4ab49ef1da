//go:build linux || darwin

package gemm

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/anekit/anekit/internal/require"
)

// fence is memory for float32s between two inaccessible pages.
type fence struct{ middle []byte }

func newFence(t *testing.T, n int) fence {
	page := syscall.Getpagesize()
	size := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	middle := mem[page : page+size]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	return fence{middle}
}

// put copies values to the start or to the end of the memory, so that reading
// or writing one element beyond them faults.
func (f fence) put(values []float32, atEnd bool) []float32 {
	at := 0
	if atEnd {
		at = len(f.middle) - 4*len(values)
	}
	s := unsafe.Slice((*float32)(unsafe.Pointer(&f.middle[at])), len(values))
	copy(s, values)
	return s
}

func TestStaysInsideItsPages(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const m, k, n = 17, 70, 161
	fc, fa, fb := newFence(t, m*n), newFence(t, m*k), newFence(t, k*n)
	left, right := halves(r, m*k), halves(r, k*n)
	eachKernel(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for _, m := range []int{1, 2, 3, 4, 5, 7, 8, 9, m} {
				for _, k := range []int{1, 2, 9, k} {
					for _, n := range []int{1, 3, 15, 16, 17, 31, 32, 33, 48, 64, 65, 128, 129, n} {
						want := make([]float32, m*n)
						loop(want, left, right, m, k, n, rounded)
						c := fc.put(make([]float32, m*n), atEnd)
						Mul(c, fa.put(left[:m*k], atEnd), fb.put(right[:k*n], atEnd), m, k, n)
						sameBits(t, want, c, "%d x %d x %d", m, k, n)
					}
				}
			}
		}
	})
}
