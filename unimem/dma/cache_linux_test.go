//go:build !macrules

package dma

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// forget removes a file from the page cache.
func forget(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// cached is the number of pages of a file in the page cache.
func cached(t *testing.T, path string) (pages uint64) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var c unix.Cachestat_t
	err = unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &c, 0)
	if err != nil {
		t.Skip("no cachestat here, which Linux has since 6.5: ", err)
	}
	return c.Cache
}

// A read to a Block leaves no page of the file in the page cache, and no page of the Block besides its own.
func TestNoPageCache(t *testing.T) {
	leaktest.SkipEmulated(t)
	const size = 32 << 20
	data := pattern(size)
	path := write(t, data)
	b := newBlock(t, size, unimem.Warm())
	d := simulate(t)
	k, err := OpenDisk(within(t), d, path)
	require.NoError(t, err)
	if !k.Direct() {
		t.Skip("this file system has no direct reads: set TMPDIR to a folder on a disk")
	}
	before := cached(t, path)
	if before != 0 {
		t.Skip("this file system keeps the file in memory")
	}
	_, err = d.Segments(b)
	require.NoError(t, err)
	debug.FreeOSMemory()
	memory, err := procmem.Proportional()
	require.NoError(t, err)
	require.NoError(t, k.Read(within(t), b, 0, 0, size/Sector))
	debug.FreeOSMemory() // garbage is no copy
	after, err := procmem.Proportional()
	require.NoError(t, err)
	require.Zero(t, cached(t, path))
	require.Less(t, after-memory, int64(size/8), "no second copy in this process")
	require.Equal(t, data, b.Bytes())

	f, err := os.Open(path) // the check sees pages
	require.NoError(t, err)
	_, err = f.Read(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NotZero(t, cached(t, path))
}

// The open of a named pipe without a writer would wait for one.
func TestPipesAreNoDisks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(path, 0o600))
	err := await.Done(t, func() error { _, _, err := OpenFile(path); return err })
	require.ErrorContains(t, err, "named pipe")
	d := simulate(t)
	err = await.Done(t, func() error { _, err := OpenDisk(t.Context(), d, path); return err })
	require.ErrorIs(t, err, ErrRefused)
}
