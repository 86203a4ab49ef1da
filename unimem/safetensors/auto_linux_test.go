package safetensors

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// A file that the page cache does not have is read. Where the system has no memory for it, AutoMode maps and ReadMode
// says so. After an error nothing is open.
func TestAutoOfAColdFile(t *testing.T) {
	leaktest.SkipEmulated(t)
	path, _ := large(t)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Sync())
	require.NoError(t, unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	info, err := f.Stat()
	require.NoError(t, err)
	if n, ok := residentBytes(f, info.Size()); !ok || n > 0 {
		t.Skip("the file system keeps the pages of a file; run it on one of a disk")
	}
	cold, err := OpenAs(t.Context(), path, AutoMode)
	require.NoError(t, err)
	if cold.Report().Access != Mapped { // the machine may be short of memory
		require.Equal(t, "Auto reads: 0% of the files are in the page cache", cold.Report().Why)
	}
	require.NoError(t, cold.Close())

	refuse := func(c *config) {
		c.start = func(int, ...unimem.Option) (*unimem.Tape, error) { return nil, unimem.ErrExhausted }
	}
	mapped, err := OpenAs(t.Context(), path, AutoMode, refuse)
	require.NoError(t, err)
	require.Equal(t, Mapped, mapped.Report().Access)
	require.NoError(t, mapped.Close())
	live := unimem.Live()
	_, err = OpenAs(t.Context(), path, ReadMode, refuse)
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.ErrorAs(t, err, new(*Error))
	_, err = OpenAs(t.Context(), path, ReadMode, from(odd{fail: part + 5}))
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, live, unimem.Live())
}
