//go:build !macrules

package vulkan

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

// What ImportDMABuf hands to a driver that offers the extension: the function of the driver is replaced by one that
// looks. Where the kernel has no udmabuf, a copy of the memfd's descriptor stands for the dma-buf.
func TestDMABufCalls(t *testing.T) {
	dev := device(t) // skips where there is none
	_, err := dev.ImportDMABuf(t.Context(), block(t, 1))
	if !dev.Info().DMABuf {
		fails(t, err, ErrExtension, "")
	}
	var imported importFd
	fail := success
	d, err := Open(t.Context(), replaced("vkAllocateMemory", func(real function, args []uintptr) result {
		next := uintptr(binary.NativeEndian.Uint64(foreign(args[1]+8, 8)))
		if next == 0 || binary.NativeEndian.Uint32(foreign(next, 4)) != typeImportFd {
			return real(args...)
		}
		b := foreign(next, 24)
		imported = importFd{sType: typeImportFd, handle: binary.NativeEndian.Uint32(b[16:]),
			fd: int32(binary.NativeEndian.Uint32(b[20:]))}
		if fail != success {
			return fail
		}
		if err := unix.Close(int(imported.fd)); err != nil { // the driver owns it now
			t.Error(err)
		}
		copy(foreign(args[1]+8, 8), make([]byte, 8)) // other memory in its place
		return real(args...)
	}))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(t.Context())) }()
	d.DMABuf = true
	d.in.fdProperties = func(args ...uintptr) result {
		require.EqualValues(t, handleDMABuf, args[1])
		binary.NativeEndian.PutUint32(foreign(args[3]+16, 4), 1<<d.in.all[0].memory.count-1)
		return success
	}
	b := block(t, unimem.PageSize)
	through := func() (*Buffer, error) {
		return d.importBlock(t.Context(), b, ImportDMABuf, func(a *arena) (*source, error) {
			fd, err := unix.Dup(int(b.Handle()))
			require.NoError(t, err)
			return d.dmabufSource(a, fd)
		})
	}
	before := files(t)
	buf, err := through()
	require.NoError(t, err)
	require.EqualValues(t, handleDMABuf, imported.handle)
	require.Equal(t, ImportDMABuf, buf.Imported())
	require.Same(t, b, buf.Block())
	require.NoError(t, buf.Close())
	fail = badHandle
	_, err = through()
	fails(t, err, ErrBlock, "vkAllocateMemory")
	require.Equal(t, before, files(t), "each descriptor is closed once")
	_, err = d.ImportDMABuf(t.Context(), b)
	if _, missing := os.Stat("/dev/udmabuf"); errors.Is(missing, os.ErrNotExist) {
		fails(t, err, ErrExtension, "")
		require.ErrorContains(t, err, "/dev/udmabuf")
	}
}

// A dma-buf of udmabuf has the memfd's own pages, in both directions, and a driver that offers the import computes on
// them. The test says what this machine lacks: the device file, or a driver with the extension.
func TestDMABufSharesPages(t *testing.T) {
	b := block(t, unimem.PageSize)
	fd, err := dmabuf(b.Handle(), b.Size())
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skipf("no dma-buf can be made of a memfd: %v", err)
	}
	require.NoError(t, err)
	defer closeFile(fd)
	again, err := unix.Mmap(fd, 0, b.Size(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(again)) }()
	b.Bytes()[4095], again[4096] = 0xa5, 0x5a
	require.EqualValues(t, 0xa5, again[4095])
	require.EqualValues(t, 0x5a, b.Bytes()[4096])

	d := device(t)
	if !d.Info().DMABuf {
		t.Skipf("the dma-buf shares pages, but %s imports none: it has no %s", d.Name, extensionDMABuf)
	}
	buf, err := d.ImportDMABuf(t.Context(), b)
	require.NoError(t, err)
	run(t, d, Fill{buf.Range(8192, 64), 0x01020304})
	require.EqualValues(t, 0x01020304, words(b.Bytes())[2048])
	require.EqualValues(t, 0xa5, b.Bytes()[4095], "nothing else changed")
	require.NoError(t, buf.Close())
}

// A dma-buf is refused with a word for memory that is no memfd, of any size, and for a descriptor that udmabuf does
// not take.
func TestDMABufRefuses(t *testing.T) {
	d := device(t)
	d.DMABuf = true
	d.in.fdProperties = func(...uintptr) result { return success }
	before := files(t)
	for _, size := range []int{1, unimem.PageSize + 1} {
		_, err := d.ImportDMABuf(t.Context(), block(t, size, unimem.OnHeap()))
		fails(t, err, ErrBlock, "")
	}
	out, in, err := os.Pipe()
	require.NoError(t, err)
	_, err = dmabuf(out.Fd(), unimem.PageSize)
	require.ErrorContains(t, err, "/dev/udmabuf")
	require.NoError(t, out.Close())
	require.NoError(t, in.Close())
	require.Equal(t, before, files(t))
}

// files counts the open descriptors.
func files(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}
