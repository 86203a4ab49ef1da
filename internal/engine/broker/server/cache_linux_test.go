//go:build !macrules

package server

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/numerics"
)

func aSource(seed byte, bytes int) *source {
	return &source{text: []byte{seed, 'm'}, function: "f", weights: []weight{{"a", make([]byte, bytes)}, {"b", nil}}}
}

func TestEntryRoundTripAndEveryByte(t *testing.T) {
	s := aSource(1, 100)
	k := s.key(ane.Info{})
	var b bytes.Buffer
	require.NoError(t, writeEntry(&b, k, s))
	got, err := readEntry(b.Bytes(), k)
	require.NoError(t, err)
	require.Equal(t, k, got.key(ane.Info{}))
	for i := range b.Bytes() {
		bad := bytes.Clone(b.Bytes())
		bad[i] ^= 1
		_, err := readEntry(bad, k)
		require.ErrorIs(t, err, errEntry, "byte %d", i)
		_, err = readEntry(b.Bytes()[:i], k)
		require.ErrorIs(t, err, errEntry, "cut at %d", i)
	}
	_, err = readEntry(append(b.Bytes(), 0), k)
	require.ErrorIs(t, err, errEntry)
	_, err = readEntry(b.Bytes(), Key{})
	require.ErrorIs(t, err, errEntry, "another key's")
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte("x"), []byte("y"))
	f.Fuzz(func(t *testing.T, text, data []byte) {
		// With a checksum that is right, whatever stands before it.
		sum := func(b []byte) []byte {
			var w bytes.Buffer
			e := entryWriter{to: &w, sum: sha256.New()}
			e.raw(b)
			e.raw(e.sum.Sum(nil))
			return w.Bytes()
		}
		k := Key{1}
		head := append([]byte(entryMagic), k[:]...)
		if s, err := readEntry(sum(append(head, text...)), k); err == nil {
			var w bytes.Buffer
			require.NoError(t, writeEntry(&w, k, s))
		}
		s := &source{text: text, weights: []weight{{"w", data}}}
		var w bytes.Buffer
		require.NoError(t, writeEntry(&w, k, s))
		got, err := readEntry(w.Bytes(), k)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got.weights[0].data))
	})
}

func TestKeysDiffer(t *testing.T) {
	info := ane.Info{Name: "soft"}
	seen := map[Key]string{}
	for name, s := range map[string]*source{
		"one":     {text: []byte("ab"), function: "c"},
		"moved":   {text: []byte("a"), function: "bc"},
		"weights": {text: []byte("ab"), function: "c", weights: []weight{{"w", nil}}},
		"data":    {text: []byte("ab"), function: "c", weights: []weight{{"w", []byte{0}}}},
		"name":    {text: []byte("ab"), function: "c", weights: []weight{{"w\x00", nil}}},
		"two":     {text: []byte("ab"), function: "c", weights: []weight{{"w", nil}, {"x", nil}}},
		"no text": {function: "c"},
		"nothing": {},
	} {
		k := s.key(info)
		require.Empty(t, seen[k], name)
		seen[k] = name
		back, err := parseKey(k.String())
		require.NoError(t, err)
		require.Equal(t, k, back)
	}
	require.NotEqual(t, (&source{}).key(info), (&source{}).key(ane.Info{Name: "other"}))
	for _, bad := range []string{"", "ab", strings.Repeat("g", 64), strings.Repeat("A", 64),
		"../" + strings.Repeat("a", 61)} {
		_, err := parseKey(bad)
		require.Error(t, err, bad)
	}
}

func TestCacheKeepsEvictsAndPurges(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	const bound = 28_000 // three entries of two pages each, and some
	c, err := openCache(dir, bound)
	require.NoError(t, err)
	var keys []Key
	for i := range 3 {
		s := aSource(byte(i), 5000)
		keys = append(keys, s.key(ane.Info{}))
		if i == 2 { // used: younger than 1, though stored before
			s, damaged := c.load(alice, keys[0], numerics.Reference)
			require.NotNil(t, s)
			require.False(t, damaged)
		}
		require.NoError(t, c.store(alice, keys[i], s))
	}
	{ // the next broker knows as much
		for i, ago := range []int{2, 3, 1} {
			old := time.Now().Add(-time.Duration(ago) * time.Minute)
			if err := os.Chtimes(c.path(alice, keys[i]), old, old); err != nil {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		}
		_, before := c.totals()
		c, err = openCache(dir, bound)
		require.NoError(t, err)
		_, after := c.totals()
		require.Equal(t, before, after)
		require.Equal(t, sizeOf(t, dir), after)
	}
	for i := range 2 {
		s := aSource(byte(i+3), 5000)
		keys = append(keys, s.key(ane.Info{}))
		require.NoError(t, c.store(alice, keys[i+3], s))
	}
	have := func(id admission.Identity, k Key) bool { s, _ := c.load(id, k, numerics.Reference); return s != nil }
	require.False(t, have(alice, keys[1]), "the one that was not used for longest")
	require.False(t, have(alice, keys[0]), "the next")
	require.True(t, have(alice, keys[4]))
	require.False(t, have(mary, keys[4]), "another identity's")
	require.LessOrEqual(t, sizeOf(t, dir), int64(bound))
	require.ErrorContains(t, c.store(alice, Key{}, aSource(9, bound)), "half")

	require.NoError(t, c.store(mary, keys[4], aSource(4, 5000)))
	n, _ := c.purge(alice, &keys[4])
	require.EqualValues(t, 1, n)
	require.True(t, have(mary, keys[4]))
	n, _ = c.purge(alice, &keys[4])
	require.Zero(t, n)
	_, size := c.purge(alice, nil)
	require.NotZero(t, size)
	require.True(t, have(mary, keys[4]))
	n, _ = c.purgeAll()
	require.EqualValues(t, 1, n)
	require.Zero(t, sizeOf(t, dir))
}

// TestCacheForgetsWhatIsDamaged puts other things in an entry's place.
func TestCacheForgetsWhatIsDamaged(t *testing.T) {
	c, err := openCache(t.TempDir(), 1<<20)
	require.NoError(t, err)
	s := aSource(1, 10)
	k := s.key(ane.Info{})
	for what, put := range map[string]func(path string) error{
		"cut":    func(p string) error { return os.Truncate(p, 20) },
		"empty":  func(p string) error { return os.Truncate(p, 0) },
		"longer": func(p string) error { return os.Truncate(p, 500) },
		"other":  func(p string) error { return os.WriteFile(p, []byte("what is this"), 0o600) },
	} {
		require.NoError(t, c.store(alice, k, s))
		require.NoError(t, put(c.path(alice, k)))
		got, damaged := c.load(alice, k, numerics.Reference)
		require.Nil(t, got, what)
		require.True(t, damaged, what)
		require.NoFileExists(t, c.path(alice, k))
	}
	require.NoError(t, os.MkdirAll(c.path(alice, k), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(c.path(alice, k), "x"), nil, 0o600))
	got, _ := c.load(alice, k, numerics.Reference)
	require.Nil(t, got)
	require.Error(t, c.store(alice, k, s))
	require.NoError(t, os.RemoveAll(c.path(alice, k)))
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, c.path(alice, k)))
	got, _ = c.load(alice, k, numerics.Reference)
	require.Nil(t, got)
	require.FileExists(t, target)

	temp := filepath.Join(c.partition(alice), ".wholefile-0.tmp")
	require.NoError(t, os.WriteFile(temp, nil, 0o600))
	c.scan()
	require.FileExists(t, temp, "another broker may be writing it")
	long := time.Now().Add(-2 * stale)
	require.NoError(t, os.Chtimes(temp, long, long))
	c.scan()
	require.NoFileExists(t, temp)
}

func TestCacheOfManyWriters(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		c, err := openCache(dir, 20_000)
		require.NoError(t, err)
		all.Go(func() {
			for i := range 100 {
				s := aSource(byte(i%7), 2000)
				k := s.key(ane.Info{})
				if err := c.store(alice, k, s); err != nil {
					t.Error(err)
				}
				got, damaged := c.load(alice, k, numerics.Reference)
				if damaged || got != nil && got.key(ane.Info{}) != k {
					t.Error("damaged by another writer")
				}
				if i%10 == 0 {
					c.purge(alice, nil)
				}
			}
		})
	}
	all.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "*", "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCacheThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	b := startBroker(t, Config{CacheDir: filepath.Join(file, "cache")})
	p := b.join(alice, "")
	_, err := p.compile(model(t, "conv-3x3"))
	require.NoError(t, err)
}

func TestCacheOfOthers(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err := openCache(dir, 1<<20)
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, "0777 lets others write")
	require.NoError(t, os.Chmod(dir, 0o755))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, -1))
		_, err = openCache(dir, 1<<20)
		require.ErrorIs(t, err, ane.ErrDenied)
		require.NoError(t, os.Chown(dir, 0, -1))
	}
	c, err := openCache(dir, 1<<20)
	require.NoError(t, err)
	require.NotEmpty(t, c.dir)
}

// sizeOf is what files under dir take on disk.
func sizeOf(t *testing.T, dir string) (sum int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	}))
	return sum
}

func init() {
	child["disk full"] = func() int {
		// Every file that is longer fails to be written, as on a disk that is full.
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
			fmt.Println(err)
			return 1
		}
		c, err := openCache(os.Getenv("DIR"), 1<<20)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		s := aSource(1, 5000)
		if err := c.store(alice, s.key(ane.Info{}), s); err != nil {
			fmt.Println("not kept:", err)
			return 0
		}
		fmt.Println("kept")
		return 1
	}
}

func TestCacheOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	require.Contains(t, inChild(t, "disk full", "DIR="+dir), "not kept:")
	require.Zero(t, sizeOf(t, dir))
	left, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestModesAreEntriesOfTheirOwn: one text in two modes is two programs, and the key of one is none of the other.
func TestModesAreEntriesOfTheirOwn(t *testing.T) {
	s := &source{text: []byte("x")}
	c, err := openCache(t.TempDir(), 1<<20)
	require.NoError(t, err)
	plain, m6 := s.key(infoOf(c.engine, numerics.Reference)), s.key(infoOf(c.engine, numerics.M6))
	require.NotEqual(t, plain, m6)
	require.NoError(t, c.store(alice, m6, s))
	got, damaged := c.load(alice, m6, numerics.Reference)
	require.Nil(t, got)
	require.False(t, damaged, "it is sound, of another mode")
	got, _ = c.load(alice, m6, numerics.M6)
	require.NotNil(t, got)
}
