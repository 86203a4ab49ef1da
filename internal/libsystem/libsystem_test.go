//go:build (darwin || (macrules && linux && cgo)) && (amd64 || arm64)

package libsystem_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/libsystem"
)

// memory maps untouched pages.
func memory(t *testing.T, size, flags int) ([]byte, uintptr) {
	t.Helper()
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|flags)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(m)) })
	return m, reflect.ValueOf(m).Pointer()
}

func fill(m []byte) {
	for i := 0; i < len(m); i += os.Getpagesize() {
		m[i] = 1
	}
}

// Memory counts once it is used.
func TestFootprint(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	const size = 64 << 20
	footprint := func() int64 {
		n, err := libsystem.Footprint()
		require.NoError(t, err)
		return n
	}
	m, _ := memory(t, size, unix.MAP_PRIVATE)
	before := footprint()
	require.Positive(t, before)
	fill(m)
	require.InDelta(t, size, footprint()-before, size/4)
}

func TestMincore(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	page := os.Getpagesize()
	m, at := memory(t, 4*page, unix.MAP_PRIVATE)
	m[page], m[3*page] = 1, 1
	flags, err := libsystem.Mincore(at, 4*page)
	require.NoError(t, err)
	require.Len(t, flags, 4)
	for i, used := range []bool{false, true, false, true} {
		require.Equal(t, used, flags[i]&(libsystem.InCore|libsystem.PagedOut) != 0, "page %d", i)
	}
}

// Writes at one address show at the other, and what was mapped there is gone.
func TestRemap(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	page := os.Getpagesize()
	source, from := memory(t, page, unix.MAP_SHARED)
	target, to := memory(t, 3*page, unix.MAP_PRIVATE)
	fill(target)
	source[5] = 42
	require.NoError(t, libsystem.Remap(to+uintptr(page), from, page))
	require.EqualValues(t, 42, target[page+5])
	require.Zero(t, target[page])
	target[page+6] = 43
	require.EqualValues(t, 43, source[6])
	require.EqualValues(t, 1, target[0])
	require.EqualValues(t, 1, target[2*page])

	again, err := libsystem.MapAgain(from, page)
	require.NoError(t, err)
	require.NotEqual(t, from, again)
	require.NoError(t, libsystem.Deallocate(again, page))

	var e *libsystem.Error
	require.ErrorAs(t, libsystem.Remap(to, from, 0), &e)
	require.Equal(t, "mach_vm_remap", e.Call)
	require.EqualValues(t, 4, e.Code, "KERN_INVALID_ARGUMENT")
}

// The folder does not follow TMPDIR.
func TestUserTempDir(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	before, err := libsystem.UserTempDir()
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(before, "/"), before)
	info, err := os.Stat(before)
	require.NoError(t, err)
	require.True(t, info.IsDir())
	t.Setenv("TMPDIR", t.TempDir())
	after, err := libsystem.UserTempDir()
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestSysctl(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	n, err := libsystem.SysctlUint64("hw.memsize")
	require.NoError(t, err)
	require.Greater(t, n, uint64(64<<20))
	version, err := libsystem.SysctlString("kern.osproductversion")
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d+`, version)
	_, err = libsystem.SysctlString("anekit.none")
	var e *libsystem.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Call, "anekit.none")
}

func TestAvailableMemory(t *testing.T) {
	require.NoError(t, bridgetest.ForBlocks())
	all, err := libsystem.SysctlUint64("hw.memsize")
	require.NoError(t, err)
	n, err := libsystem.AvailableMemory()
	require.NoError(t, err)
	require.Positive(t, n)
	require.LessOrEqual(t, uint64(n), all)
}
