//go:build !macrules

package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

const shareBytes = 1 << 20

// Sharing a Block, adopting it and closing both.
func BenchmarkShareAdopt(b *testing.B) {
	block, err := unimem.Open(shareBytes)
	require.NoError(b, err)
	for b.Loop() {
		f, err := block.Share()
		require.NoError(b, err)
		twin, err := unimem.Adopt(f, shareBytes)
		require.NoError(b, err)
		require.NoError(b, f.Close())
		require.NoError(b, twin.Close())
	}
	require.NoError(b, block.Close())
}

// The floor: two new descriptors and a mapping.
func BenchmarkShareAdoptFloor(b *testing.B) {
	block, err := unimem.Open(shareBytes)
	require.NoError(b, err)
	for b.Loop() {
		fd, err := unix.FcntlInt(block.Handle(), unix.F_DUPFD_CLOEXEC, 0)
		require.NoError(b, err)
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		require.NoError(b, err)
		mem, err := unix.Mmap(own, 0, shareBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(b, err)
		require.NoError(b, unix.Munmap(mem))
		require.NoError(b, unix.Close(own))
		require.NoError(b, unix.Close(fd))
	}
	require.NoError(b, block.Close())
}
