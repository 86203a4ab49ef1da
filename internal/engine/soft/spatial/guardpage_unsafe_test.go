//go:build linux || darwin

package spatial

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// fenced copies bytes to the start or to the end of memory between two inaccessible pages, so that reading or writing
// beyond them faults.
func fenced(t *testing.T, values []byte, atEnd bool) []byte {
	t.Helper()
	page, n := syscall.Getpagesize(), len(values)
	size := (n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(mem)) })
	middle := mem[page : page+size]
	require.NoError(t, syscall.Mprotect(middle, syscall.PROT_READ|syscall.PROT_WRITE))
	at := 0
	if atEnd {
		at = size - n
	}
	copy(middle[at:], values)
	return unsafe.Slice(&middle[at], n)
}
