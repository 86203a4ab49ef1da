//go:build !macrules

package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models"
)

// withEntry starts a broker whose cache has an entry, of a program that is no longer in memory, and returns the program
// and the path of the entry.
func withEntry(t *testing.T) (b *broker, m models.Model, path string) {
	t.Helper()
	b = startBroker(t, Config{CacheDir: t.TempDir()})
	p := b.join(alice, "")
	m = model(t, "add")
	c, err := p.compile(m)
	require.NoError(t, err)
	key, err := parseKey(c.Key)
	require.NoError(t, err)
	p.close()
	eventually(t, "the program is gone from memory", func() bool { return b.live.count() == 0 })
	return b, m, b.cache.path(alice, key)
}

// TestRewrittenEntry: an entry whose content another process replaced, checksum and all, is
// removed, counted and compiled again: 3 + 4 stays 7.
func TestRewrittenEntry(t *testing.T) {
	b, m, path := withEntry(t)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	evil := bytes.ReplaceAll(kept, []byte("add("), []byte("sub("))
	require.NotEqual(t, kept, evil)
	end := len(evil) - sha256.Size
	check := sha256.Sum256(evil[:end])
	require.NoError(t, os.WriteFile(path, append(evil[:end], check[:]...), 0o600))

	p := b.join(alice, "")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	require.Equal(t, []float32{7}, sum(t, p, r))
	require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, kept, again, "made again")
}

// TestSwollenEntry: an entry that a process made longer than the cache may be is removed, and charged to no client.
func TestSwollenEntry(t *testing.T) {
	b, m, path := withEntry(t)
	require.NoError(t, os.Truncate(path, 1<<40))

	p := b.join(alice, "")
	_, err := p.compile(m)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.counter(t, "cache entries damaged"))
}

// sum is what a program makes of tensors of threes and fours.
func sum(t *testing.T, p *peer, r *run) []float32 {
	t.Helper()
	for i, v := range []float32{3, 4} {
		values := make([]float32, r.in[i].Layout().Elements())
		for j := range values {
			values[j] = v
		}
		_, err := r.in[i].WriteFloat32(values)
		require.NoError(t, err)
	}
	require.NoError(t, p.evaluate(r, 0))
	values := make([]float32, r.out[0].Layout().Elements())
	_, err := r.out[0].ReadFloat32(values)
	require.NoError(t, err)
	return slices.Compact(values)
}

// TestCacheTrustsItsOwnFolders alone: groups that may write, links, and partitions of
// other users keep nothing and give nothing.
func TestCacheTrustsItsOwnFolders(t *testing.T) {
	s := aSource(1, 10)
	k := s.key(ane.Info{})
	for _, mode := range []os.FileMode{0o770, 0o775, 0o702} {
		dir := t.TempDir()
		require.NoError(t, os.Chmod(dir, mode))
		_, err := openCache(dir, 1<<20)
		require.ErrorIs(t, err, ane.ErrDenied, "%o", mode)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	_, err := openCache(link, 1<<20)
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
			c, err := openCache(dir, 1<<20)
			require.NoError(t, err)
			require.NoError(t, c.store(alice, k, s))
			spoil(t, c.partition(alice))
			got, _ := c.load(alice, k, numerics.Reference)
			require.Nil(t, got)
			require.ErrorIs(t, c.store(alice, k, s), ane.ErrDenied)
			c, err = openCache(dir, 1<<20)
			require.NoError(t, err)
			n, _ := c.totals()
			require.Zero(t, n, "not counted")
			got, _ = c.load(alice, k, numerics.Reference)
			require.Nil(t, got)
			n2, _ := c.purge(alice, nil)
			require.Zero(t, n2)
		})
	}
}

// TestCacheFolderTakenAway while the broker runs: one that was removed is made again, and a link in its place is
// refused.
func TestCacheFolderTakenAway(t *testing.T) {
	s := aSource(1, 10)
	k := s.key(ane.Info{})
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := openCache(dir, 1<<20)
	require.NoError(t, err)
	require.NoError(t, c.store(alice, k, s))
	require.NoError(t, os.RemoveAll(dir))
	got, damaged := c.load(alice, k, numerics.Reference)
	require.Nil(t, got)
	require.False(t, damaged)
	require.NoError(t, c.store(alice, k, s))
	got, _ = c.load(alice, k, numerics.Reference)
	require.NotNil(t, got)

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Rename(dir, elsewhere))
	require.NoError(t, os.Symlink(elsewhere, dir))
	got, _ = c.load(alice, k, numerics.Reference)
	require.Nil(t, got, "nothing of it is read")
	require.ErrorIs(t, c.store(alice, k, s), ane.ErrDenied)
	files, _ := c.purgeAll()
	require.Zero(t, files)
	c.drop(entryName{alice.String(), k})
	parts, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Len(t, parts, 1, "nothing is written there")
	require.FileExists(t, filepath.Join(elsewhere, alice.String(), k.String()+suffix))
}

// TestCacheCountsBlocks: the bound is of bytes on disk, of which a file of some bytes takes
// a block.
func TestCacheCountsBlocks(t *testing.T) {
	dir := t.TempDir()
	sources := effort.Rounds(1000, 250)
	bound := int64(sources) << 10 // a quarter of them
	c, err := openCache(dir, bound)
	require.NoError(t, err)
	for i := range sources {
		s := &source{text: fmt.Appendf(nil, "%d", i)}
		require.NoError(t, c.store(alice, s.key(ane.Info{}), s))
	}
	require.LessOrEqual(t, sizeOf(t, dir), bound)
	_, sum := c.totals()
	require.Equal(t, sizeOf(t, dir), sum)
}

// TestEmptyPartitionsGo when their last entry does, and at the start of a broker.
func TestEmptyPartitionsGo(t *testing.T) {
	dir := t.TempDir()
	c, err := openCache(dir, 1<<20)
	require.NoError(t, err)
	s := aSource(1, 10)
	k := s.key(ane.Info{})
	left := func() int {
		all, err := os.ReadDir(dir)
		require.NoError(t, err)
		return len(all)
	}
	for _, remove := range []func(){
		func() { c.purge(alice, nil) },
		func() { c.purge(alice, &k) },
		func() { c.purgeAll() },
		func() {
			require.NoError(t, os.Truncate(c.path(alice, k), 1))
			_, damaged := c.load(alice, k, numerics.Reference)
			require.True(t, damaged)
		},
		func() {
			require.NoError(t, os.Remove(c.path(alice, k)))
			c, err = openCache(dir, 1<<20)
			require.NoError(t, err)
		},
	} {
		require.NoError(t, c.store(alice, k, s))
		require.Equal(t, 1, left())
		remove()
		require.Zero(t, left())
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "not ours"), 0o700))
	c, err = openCache(dir, 1<<20)
	require.NoError(t, err)
	require.Equal(t, 1, left(), "what is no partition stays")

	// Two brokers that remove and make one partition at once.
	other, err := openCache(dir, 1<<20)
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, c := range []*cache{c, other} {
		all.Go(func() {
			for range effort.Rounds(200, 50) {
				_ = c.store(alice, k, s)
				c.purge(alice, nil)
			}
		})
	}
	all.Wait()
}

// BenchmarkCacheStore stores an entry beside others; its floor writes the same bytes to a
// file and renames it.
func BenchmarkCacheStore(b *testing.B) {
	s := aSource(1, 4000)
	k := s.key(ane.Info{})
	for _, entries := range []int{0, 3000} {
		b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
			c, err := openCache(b.TempDir(), 1<<30)
			require.NoError(b, err)
			for i := range entries {
				one := &source{text: fmt.Appendf(nil, "%d", i)}
				require.NoError(b, c.store(mary, one.key(ane.Info{}), one))
			}
			for b.Loop() {
				if err := c.store(alice, k, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "entry")
		var entry bytes.Buffer
		require.NoError(b, writeEntry(&entry, k, s))
		for b.Loop() {
			f, err := wholefile.Create(path)
			if err == nil {
				_, err = f.Write(entry.Bytes())
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
