//go:build !macrules

package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/stretchr/testify/require"
)

// TestCacheTrustsItsOwnFolders alone: groups that may write, links, and folders of
// other users keep nothing and give nothing.
func TestCacheTrustsItsOwnFolders(t *testing.T) {
	s := aSource(1, 10)
	k := keyOf(s)
	for _, mode := range []os.FileMode{0o770, 0o775, 0o702} {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, mode))
		_, err := OpenCache(dir, 1<<20, ane.Info{})
		require.ErrorIs(t, err, ane.ErrDenied, "%o", mode)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	_, err := OpenCache(link, 1<<20, ane.Info{})
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, "symbolic link")

	for what, spoil := range map[string]func(t *testing.T, folder string){
		"writable by a group": func(t *testing.T, p string) { require.NoError(t, os.Chmod(p, 0o770)) },
		"another user's": func(t *testing.T, p string) {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			require.NoError(t, os.Chown(p, 65534, -1))
		},
		"a link": func(t *testing.T, p string) {
			to := filepath.Join(t.TempDir(), "elsewhere")
			require.NoError(t, os.Rename(p, to))
			require.NoError(t, os.Symlink(to, p))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			c, err := OpenCache(dir, 1<<20, ane.Info{})
			require.NoError(t, err)
			require.NoError(t, c.Store(alice, k, s))
			spoil(t, dir)
			got, _ := c.Load(t.Context(), alice, k, numerics.Reference)
			require.Nil(t, got)
			require.ErrorIs(t, c.Store(alice, k, s), ane.ErrDenied)
			require.Empty(t, c.list(""), "not counted")
			files, _ := c.Purge(alice, nil)
			require.Zero(t, files)
			c, err = OpenCache(dir, 1<<20, ane.Info{})
			require.ErrorIs(t, err, ane.ErrDenied)
			got, _ = c.Load(t.Context(), alice, k, numerics.Reference)
			require.Nil(t, got)
		})
	}
}

// TestCacheFolderTakenAway while the broker runs: one that was removed is made again, and a link in its place is
// refused.
func TestCacheFolderTakenAway(t *testing.T) {
	s := aSource(1, 10)
	k := keyOf(s)
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := OpenCache(dir, 1<<20, ane.Info{})
	require.NoError(t, err)
	require.NoError(t, c.Store(alice, k, s))
	require.NoError(t, os.RemoveAll(dir))
	got, damaged := c.Load(t.Context(), alice, k, numerics.Reference)
	require.Nil(t, got)
	require.False(t, damaged)
	require.NoError(t, c.Store(alice, k, s))
	got, _ = c.Load(t.Context(), alice, k, numerics.Reference)
	require.NotNil(t, got)

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(dir, elsewhere))
	require.NoError(t, os.Symlink(elsewhere, dir))
	got, _ = c.Load(t.Context(), alice, k, numerics.Reference)
	require.Nil(t, got, "nothing of it is read")
	require.ErrorIs(t, c.Store(alice, k, s), ane.ErrDenied)
	files, _ := c.Purge("", nil)
	require.Zero(t, files)
	c.remove(file(alice, k))
	parts, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Len(t, parts, 1, "nothing is written there")
	require.FileExists(t, filepath.Join(elsewhere, file(alice, k)))
}

// TestCacheCountsBlocks: the bound is of bytes on disk, of which a file of some bytes takes
// a block.
func TestCacheCountsBlocks(t *testing.T) {
	dir := t.TempDir()
	sources := effort.Rounds(1000, 250)
	bound := int64(sources) << 10 // a quarter of them
	c, err := OpenCache(dir, bound, ane.Info{})
	require.NoError(t, err)
	for i := range sources {
		s := &Source{text: fmt.Appendf(nil, "%d", i)}
		require.NoError(t, c.Store(alice, keyOf(s), s))
	}
	require.LessOrEqual(t, sizeOf(t, dir), bound)
	require.Equal(t, sizeOf(t, dir), c.sum)
}

// TestCacheLeavesOthersAlone: what is no entry of the cache is neither counted nor removed.
func TestCacheLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-2 * stale)
	for _, name := range []string{"a.program", "other.tmp", alice + ".program"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
		require.NoError(t, os.Chtimes(path, long, long))
	}
	c, err := OpenCache(dir, 1<<20, ane.Info{})
	require.NoError(t, err)
	require.Zero(t, c.sum)
	files, _ := c.Purge("", nil)
	require.Zero(t, files)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 3)
}

// BenchmarkCacheStore stores an entry beside others; its floor writes the same bytes to a
// file and renames it.
func BenchmarkCacheStore(b *testing.B) {
	s := aSource(1, 4000)
	k := keyOf(s)
	for _, entries := range []int{0, 3000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			c, err := OpenCache(b.TempDir(), 1<<30, ane.Info{})
			require.NoError(b, err)
			for i := range entries {
				one := &Source{text: fmt.Appendf(nil, "%d", i)}
				require.NoError(b, c.Store(mary, keyOf(one), one))
			}
			for b.Loop() {
				if err := c.Store(alice, k, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "entry")
		entry := entryOf(b, s)
		for b.Loop() {
			f, err := wholefile.Create(path)
			if err == nil {
				_, err = f.Write(entry)
			}
			if err == nil {
				err = f.Commit()
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
