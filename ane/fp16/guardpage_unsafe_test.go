//go:build linux || darwin

package fp16

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fenced returns n elements directly before or directly after a page without access: an
// access outside of them is a fault.
func fenced[T any](t *testing.T, n int, atEnd bool) []T {
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	middle := mem[page : 2*page]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	size := int(unsafe.Sizeof(*new(T)))
	if atEnd {
		middle = middle[page-n*size:]
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&middle[0])), n)
}

func TestStaysInsideItsPages(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, atEnd := range []bool{true, false} {
			for n := 1; n <= 100; n++ {
				t.Run("", func(t *testing.T) {
					wide, half := fenced[float32](t, n, atEnd), fenced[Bits](t, n, atEnd)
					wide[n-1] = 1.5
					Encode(half, wide)
					require.Equal(t, Bits(0x3e00), half[n-1])
					require.True(t, Finite(half))
					_, fine := EncodeFinite(half, wide)
					require.True(t, fine)
					_, fine = EncodeBrain(half, fenced[Brain](t, n, atEnd))
					require.True(t, fine)
					Encode(half, wide)
					Decode(wide, half)
					require.Equal(t, float32(1.5), wide[n-1])
					Round(wide, wide)
					require.Equal(t, float32(1.5), wide[n-1])
				})
			}
		}
	})
}
