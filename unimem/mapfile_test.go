package unimem_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// mapped maps a file of n bytes, byte i being i%251. The test skips where no files can be mapped.
func mapped(t *testing.T, n int) (*unimem.Block, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i % 251)
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	b, err := unimem.MapFile(f)
	require.NoError(t, f.Close())
	if errors.Is(err, unimem.ErrShare) {
		t.Skip(err)
	}
	require.NoError(t, err)
	return b, path
}

func TestMapFile(t *testing.T) {
	b, _ := mapped(t, 5000)
	require.Equal(t, 5000, b.Size())
	require.Equal(t, "file", b.Backing())
	require.True(t, b.ReadOnly())
	require.False(t, b.Pinned())
	require.ErrorIs(t, b.Unpinned(), unimem.ErrPin)
	require.EqualValues(t, 4999%251, b.Bytes()[4999])
	require.Zero(t, unimem.Live().Bytes, "the pages are the file's")
	_, err := b.Share()
	require.ErrorIs(t, err, unimem.ErrShare)
	m, err := unimem.Map(b)
	require.NoError(t, err)
	require.Equal(t, b.Bytes(), m.Bytes())
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
	require.Nil(t, b.Bytes())
}

// The pages of a mapped file are whole, also where the system's own pages are smaller, in each mapping. They end with
// zeros and begin with the file.
func TestPagesOfAFileAreWhole(t *testing.T) {
	for _, n := range []int{1, 4095, 4096, 4097, 16384, 16385, 3*16384 - 1} {
		b, path := mapped(t, n)
		whole := (n + unimem.PageSize - 1) / unimem.PageSize * unimem.PageSize
		require.Len(t, b.Bytes(), n)
		require.Len(t, b.Pages(), whole)
		require.Same(t, &b.Bytes()[0], &b.Pages()[0])
		require.Equal(t, n, cap(b.Bytes()), "a slice does not reach the rest by accident")
		require.Equal(t, b.Bytes(), b.Pages()[:n])
		require.Equal(t, make([]byte, whole-n), b.Pages()[n:], "%d bytes", n)
		m, err := unimem.Map(b)
		require.NoError(t, err)
		require.Equal(t, b.Bytes(), m.Bytes())
		require.NoError(t, m.Close())
		f, err := os.Open(path)
		require.NoError(t, err)
		if n > 16384 {
			part, err := unimem.MapFileAt(f, 16384, 1)
			require.NoError(t, err)
			require.Equal(t, b.Pages()[16384], part.Pages()[0])
			require.Len(t, part.Pages(), unimem.PageSize)
			require.Zero(t, part.Pages()[unimem.PageSize-1], "beyond the file, or its page of the system")
			require.NoError(t, part.Close())
		}
		require.NoError(t, f.Close())
		require.NoError(t, b.Close())
		require.Nil(t, b.Pages())
	}
	b, err := unimem.Open(1)
	require.NoError(t, err)
	require.Equal(t, b.Bytes(), b.Pages())
	require.NoError(t, b.Close())
	require.Nil(t, (*unimem.Block)(nil).Pages())
}

func TestMapFileRefuses(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	_, err = unimem.MapFile(dir)
	require.ErrorIs(t, err, unimem.ErrShare)
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	_, err = unimem.MapFile(f)
	require.ErrorIs(t, err, unimem.ErrZeroSize)
	_, err = f.WriteString("text")
	require.NoError(t, err)
	for _, o := range []unimem.Option{unimem.OnHeap(), unimem.SurfacePerCell(), unimem.StaleOnClose()} {
		_, err = unimem.MapFile(f, o)
		require.ErrorIs(t, err, unimem.ErrOption)
	}
	_, err = unimem.MapFile(f, unimem.RequirePinned())
	if !errors.Is(err, unimem.ErrShare) {
		require.ErrorIs(t, err, unimem.ErrPin)
	}
}

// A file that becomes shorter answers with an error: where pages are gone, and where the last
// page still exists and reads as zeros.
func TestGuard(t *testing.T) {
	leaktest.NeedsFaultAddress(t)
	for name, left := range map[string]int64{"pages gone": 0, "within a page": 3 * 16384} {
		t.Run(name, func(t *testing.T) {
			b, path := mapped(t, 3*16384+100)
			defer func() { require.NoError(t, b.Close()) }()
			dst := make([]byte, b.Size())
			read := func() error { copy(dst, b.Bytes()); return nil }
			require.NoError(t, unimem.Guard(read, b))
			require.NoError(t, os.Truncate(path, left))
			err := unimem.Guard(read, nil, b)
			require.ErrorIs(t, err, unimem.ErrChanged)
			write := func() error {
				return os.WriteFile(filepath.Join(t.TempDir(), "copy"), b.Bytes(), 0o600)
			}
			require.ErrorIs(t, unimem.Guard(write, nil, b), unimem.ErrChanged, "a system call that reads the pages")
			m, fault := unimem.Map(b)
			require.NoError(t, fault)
			require.ErrorIs(t, unimem.Guard(func() error { copy(dst, m.Bytes()); return nil }, b), unimem.ErrChanged)
			require.NoError(t, m.Close())
			if left == 0 {
				require.ErrorContains(t, err, "byte ")
			}
		})
	}
}

func TestGuardPassesOn(t *testing.T) {
	b, path := mapped(t, 100)
	defer func() { require.NoError(t, b.Close()) }()
	own := errors.New("own")
	require.ErrorIs(t, unimem.Guard(func() error { return own }, b), own)
	require.PanicsWithValue(t, "own", func() { _ = unimem.Guard(func() error { panic("own") }, b) })
	require.NoError(t, os.Truncate(path, 0))
	require.Panics(t, func() {
		_ = unimem.Guard(func() error { copy(make([]byte, 100), b.Bytes()); return nil })
	}, "a fault of memory that is not among the Blocks")
}

func TestCloseAll(t *testing.T) {
	a, err := unimem.Open(1)
	require.NoError(t, err)
	b, err := unimem.Open(1)
	require.NoError(t, err)
	require.NoError(t, b.Retain())
	require.ErrorIs(t, unimem.CloseAll(a, nil, b), unimem.ErrInUse)
	require.NotNil(t, a.Bytes(), "none is closed")
	require.NoError(t, a.Retain(), "and all work as before")
	a.Release()
	b.Release()
	require.NoError(t, unimem.CloseAll(a, nil, b))
	require.Nil(t, a.Bytes())
	require.NoError(t, unimem.CloseAll(a, b))
	tape, err := unimem.Start(1)
	require.NoError(t, err)
	require.ErrorIs(t, unimem.CloseAll(tape.Block()), unimem.ErrInUse)
	require.NoError(t, tape.Close())
}

func TestMapFileAt(t *testing.T) {
	whole, path := mapped(t, 2*unimem.PageSize+100)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	b, err := unimem.MapFileAt(f, unimem.PageSize, 200)
	require.NoError(t, err)
	require.Equal(t, whole.Bytes()[unimem.PageSize:][:200], b.Bytes())
	require.NotEqual(t, whole.Key(), b.Key())
	_, err = unimem.MapFileAt(f, 64, 1)
	require.ErrorIs(t, err, unimem.ErrInvalidAlignment)
	_, err = unimem.MapFileAt(f, 2*unimem.PageSize, 101)
	require.ErrorIs(t, err, unimem.ErrSize)
	_, err = unimem.MapFileAt(f, -unimem.PageSize, 1)
	require.ErrorIs(t, err, unimem.ErrSize)
	require.NoError(t, os.Truncate(path, unimem.PageSize+10))
	require.ErrorIs(t, unimem.Guard(func() error { return nil }, b), unimem.ErrChanged)
	require.NoError(t, unimem.CloseAll(whole, b))
}
