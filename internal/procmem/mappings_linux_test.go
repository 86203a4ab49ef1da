//go:build !macrules

package procmem_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/procmem"
)

// at returns the mapping that begins with the first byte of memory.
func at(t *testing.T, memory []byte) (found procmem.Mapping) {
	t.Helper()
	address := uint64(reflect.ValueOf(memory).Pointer())
	n := 0
	require.NoError(t, procmem.Mappings(0, func(m *procmem.Mapping) {
		if m.Start == address {
			found, n = *m, n+1
		}
	}))
	require.Equal(t, 1, n)
	return found
}

// Each mapping of a file is found with the file's identity, its offset and its pages.
func TestMappings(t *testing.T) {
	page := os.Getpagesize()
	disk := filepath.Join(t.TempDir(), "a file (deleted) with  spaces")
	require.NoError(t, os.WriteFile(disk, make([]byte, 4*page), 0o600))
	onDisk, err := os.OpenFile(disk, os.O_RDWR, 0)
	require.NoError(t, err)
	defer onDisk.Close()
	fd, err := unix.MemfdCreate("a memory", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	inMemory := os.NewFile(uintptr(fd), "memory")
	defer inMemory.Close()
	require.NoError(t, inMemory.Truncate(int64(4*page)))
	for _, c := range []struct {
		file  *os.File
		flags int
	}{{onDisk, unix.MAP_SHARED}, {onDisk, unix.MAP_PRIVATE}, {inMemory, unix.MAP_SHARED},
		{inMemory, unix.MAP_PRIVATE}} {
		memory, err := unix.Mmap(int(c.file.Fd()), int64(page), 3*page, unix.PROT_READ|unix.PROT_WRITE, c.flags)
		require.NoError(t, err)
		memory[0], memory[page] = 1, 1
		var s unix.Stat_t
		require.NoError(t, unix.Fstat(int(c.file.Fd()), &s))
		m := at(t, memory)
		require.EqualValues(t, 3*page, m.End-m.Start)
		require.EqualValues(t, page, m.Offset)
		require.Equal(t, s.Dev, m.Device)
		require.Equal(t, s.Ino, m.Inode)
		require.Equal(t, c.flags == unix.MAP_SHARED, m.Shared)
		require.Equal(t, c.file == onDisk, m.OnDisk())
		require.GreaterOrEqual(t, m.Resident, int64(2*page))
		require.Positive(t, m.Proportional)
		if c.flags == unix.MAP_PRIVATE {
			require.EqualValues(t, 2*page, m.PrivateDirty, "two pages were written, and are this process's own")
		}
		if c.file == onDisk {
			require.Equal(t, disk, m.Path)
		}
		require.NoError(t, unix.Munmap(memory))
	}
	require.Error(t, procmem.Mappings(1<<30, func(*procmem.Mapping) { t.Fatal("no such process") }))
}

// A byte of a file is found where another mapping has it, unless that mapping is private.
func TestElsewhere(t *testing.T) {
	page := os.Getpagesize()
	fd, err := unix.MemfdCreate("a memory", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, int64(4*page)))
	mapped := func(offset, pages, flags int) (address uint64) {
		memory, err := unix.Mmap(fd, int64(offset*page), pages*page, unix.PROT_READ|unix.PROT_WRITE, flags)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, unix.Munmap(memory)) })
		return uint64(reflect.ValueOf(memory).Pointer())
	}
	own := mapped(0, 2, unix.MAP_SHARED) + uint64(page) + 5
	private := mapped(1, 1, unix.MAP_PRIVATE)
	found, err := procmem.Elsewhere(os.Getpid(), own)
	require.NoError(t, err)
	require.Equal(t, own, found, "there is no other")
	found, err = procmem.Elsewhere(os.Getpid(), private)
	require.NoError(t, err)
	require.Zero(t, found)
	found, err = procmem.Elsewhere(os.Getppid(), own)
	require.NoError(t, err)
	require.Zero(t, found)
	_, err = procmem.Elsewhere(1<<30, own)
	require.Error(t, err)
	m, err := procmem.At(0, own)
	require.NoError(t, err)
	require.EqualValues(t, page+5, m.OffsetOf(own))
	m, err = procmem.At(0, 1)
	require.NoError(t, err)
	require.Zero(t, m)
}

// Amounts of all mappings add up to those of the process.
func TestMappingsAddUp(t *testing.T) {
	want, err := procmem.Proportional()
	if err != nil {
		t.Skip(err)
	}
	var sum, files procmem.Amounts
	require.NoError(t, procmem.Mappings(os.Getpid(), func(m *procmem.Mapping) {
		if m.OnDisk() {
			files.Add(m.Amounts)
		}
		sum.Add(m.Amounts)
	}))
	require.Less(t, files.Proportional, sum.Proportional)
	require.InDelta(t, want, sum.Proportional-files.Proportional, 8<<20)
	require.LessOrEqual(t, sum.PrivateDirty+sum.PrivateClean, sum.Resident)
}

// Two mappings of a page have one frame, and a page that was never used has none.
func TestFrames(t *testing.T) {
	page := os.Getpagesize()
	fd, err := unix.MemfdCreate("a memory", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, int64(3*page)))
	var found [2][]uint64
	for i := range found {
		memory, err := unix.Mmap(fd, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(memory)) }()
		memory[0], memory[2*page] = 1, 1
		var shown bool
		found[i], shown = procmem.Frames(0, uint64(reflect.ValueOf(memory).Pointer()), 3)
		if !shown {
			t.Skip("the kernel shows page frames to root alone")
		}
	}
	require.Equal(t, found[0], found[1])
	require.NotZero(t, found[0][0])
	require.Zero(t, found[0][1])
	require.NotZero(t, found[0][2])
	require.NotEqual(t, found[0][0], found[0][2])
	_, shown := procmem.Frames(1<<30, 0, 1)
	require.False(t, shown)
}

// The opened memory of a process has its bytes at their addresses.
func TestOpen(t *testing.T) {
	memory, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(memory)) }()
	f, err := procmem.Open(0)
	require.NoError(t, err)
	defer f.Close()
	address := int64(reflect.ValueOf(memory).Pointer())
	_, err = f.WriteAt([]byte{7}, address)
	require.NoError(t, err)
	require.EqualValues(t, 7, memory[0])
	got := make([]byte, 1)
	_, err = f.ReadAt(got, address)
	require.NoError(t, err)
	require.EqualValues(t, 7, got[0])
	_, err = procmem.Open(1 << 30)
	require.Error(t, err)
}
