//go:build !macrules

package resources

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/stretchr/testify/require"
)

// TestCacheTrustsItsOwnFolders alone: groups that may write, links, and partitions of
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

	for what, spoil := range map[string]func(t *testing.T, partition string){
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
			dir := t.TempDir()
			c, err := OpenCache(dir, 1<<20, ane.Info{})
			require.NoError(t, err)
			require.NoError(t, c.Store(alice, k, s))
			spoil(t, filepath.Join(c.dir, alice))
			got, _ := c.Load(t.Context(), alice, k, numerics.Reference)
			require.Nil(t, got)
			require.ErrorIs(t, c.Store(alice, k, s), ane.ErrDenied)
			c, err = OpenCache(dir, 1<<20, ane.Info{})
			require.NoError(t, err)
			require.Empty(t, c.list(""), "not counted")
			got, _ = c.Load(t.Context(), alice, k, numerics.Reference)
			require.Nil(t, got)
			n2, _ := c.Purge(alice, nil)
			require.Zero(t, n2)
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

// TestEmptyPartitionsGo when their last entry does.
func TestEmptyPartitionsGo(t *testing.T) {
	dir := t.TempDir()
	c, err := OpenCache(dir, 1<<20, ane.Info{})
	require.NoError(t, err)
	s := aSource(1, 10)
	k := keyOf(s)
	left := func() int {
		all, err := os.ReadDir(dir)
		require.NoError(t, err)
		return len(all)
	}
	for _, remove := range []func(){
		func() { c.Purge(alice, nil) },
		func() { c.Purge(alice, &k) },
		func() { c.Purge("", nil) },
		func() {
			require.NoError(t, os.Truncate(path(c, alice, k), 1))
			_, damaged := c.Load(t.Context(), alice, k, numerics.Reference)
			require.True(t, damaged)
		},
	} {
		require.NoError(t, c.Store(alice, k, s))
		require.Equal(t, 1, left())
		remove()
		require.Zero(t, left())
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "not ours"), 0o700))
	c, err = OpenCache(dir, 1<<20, ane.Info{})
	require.NoError(t, err)
	require.Equal(t, 1, left(), "what is no partition stays")

	// Two brokers that remove and make one partition at once.
	other, err := OpenCache(dir, 1<<20, ane.Info{})
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, c := range []*Cache{c, other} {
		all.Go(func() {
			for range effort.Rounds(200, 50) {
				_ = c.Store(alice, k, s)
				c.Purge(alice, nil)
			}
		})
	}
	all.Wait()
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
