//go:build !macrules

package resources

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/numerics"
)

func path(c *Cache, identity string, k Key) string { return filepath.Join(c.dir, file(identity, k)) }

func aSource(seed byte, bytes int) *Source {
	return &Source{text: []byte{seed, 'm'}, function: "f", weights: []weight{{"a", make([]byte, bytes)}, {"b", nil}}}
}

// alice and mary are identities.
const (
	alice = "1-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	mary  = "1-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func keyOf(s *Source) Key {
	k, err := s.Key(context.Background(), ane.Info{})
	if err != nil {
		panic(err)
	}
	return k
}

func entryOf(t testing.TB, s *Source) []byte {
	var b bytes.Buffer
	require.NoError(t, s.write(t.Context(), &b))
	return b.Bytes()
}

// TestEntriesAreWhatTheirKeyIsOf: a program comes back whole, and each byte that is changed or missing shows.
func TestEntriesAreWhatTheirKeyIsOf(t *testing.T) {
	s := aSource(1, 100)
	k, b := keyOf(s), entryOf(t, s)
	got, err := parseSource(b)
	require.NoError(t, err)
	require.Equal(t, k, keyOf(got))
	shows := func(b []byte) bool {
		s, err := parseSource(b)
		return errors.Is(err, errEntry) || keyOf(s) != k
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		require.True(t, shows(bad), "byte %d", i)
		require.True(t, shows(b[:i]), "cut at %d", i)
	}
	require.True(t, shows(append(b, 0)))
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte("x"), []byte("y"))
	f.Fuzz(func(t *testing.T, text, data []byte) {
		if s, err := parseSource(text); err == nil {
			require.Equal(t, keyOf(s), keyOf(&Source{function: s.function, text: s.text, weights: s.weights}))
		}
		got, err := parseSource(entryOf(t, &Source{text: text, weights: []weight{{"w", data}}}))
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, got.text))
		require.True(t, bytes.Equal(data, got.weights[0].data))
	})
}

func TestKeysDiffer(t *testing.T) {
	seen := map[Key]string{}
	for name, s := range map[string]*Source{
		"one":     {text: []byte("ab"), function: "c"},
		"moved":   {text: []byte("a"), function: "bc"},
		"weights": {text: []byte("ab"), function: "c", weights: []weight{{"w", nil}}},
		"data":    {text: []byte("ab"), function: "c", weights: []weight{{"w", []byte{0}}}},
		"name":    {text: []byte("ab"), function: "c", weights: []weight{{"w\x00", nil}}},
		"two":     {text: []byte("ab"), function: "c", weights: []weight{{"w", nil}, {"x", nil}}},
		"no text": {function: "c"},
		"nothing": {},
	} {
		k := keyOf(s)
		require.Empty(t, seen[k], name)
		seen[k] = name
		back, err := ParseKey(k.String())
		require.NoError(t, err)
		require.Equal(t, k, back)
	}
	other, err := (&Source{}).Key(t.Context(), ane.Info{Name: "other"})
	require.NoError(t, err)
	require.NotEqual(t, keyOf(&Source{}), other)
	for _, bad := range []string{"", "ab", strings.Repeat("g", 64), strings.Repeat("A", 64),
		"../" + strings.Repeat("a", 61)} {
		_, err := ParseKey(bad)
		require.Error(t, err, bad)
	}
}

func TestCacheKeepsEvictsAndPurges(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	const bound = 30_000 // three entries of two pages each, and more than an eighth
	c, err := OpenCache(dir, bound, ane.Info{})
	require.NoError(t, err)
	var keys []Key
	for i := range 3 {
		s := aSource(byte(i), 5000)
		keys = append(keys, keyOf(s))
		if i == 2 { // used: younger than 1, though stored before
			s, damaged := c.Load(t.Context(), alice, keys[0], numerics.Reference)
			require.NotNil(t, s)
			require.False(t, damaged)
		}
		require.NoError(t, c.Store(alice, keys[i], s))
	}
	{ // the next broker knows as much
		for i, ago := range []int{2, 3, 1} {
			old := time.Now().Add(-time.Duration(ago) * time.Minute)
			if err := os.Chtimes(path(c, alice, keys[i]), old, old); err != nil {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		}
		before := c.sum
		c, err = OpenCache(dir, bound, ane.Info{})
		require.NoError(t, err)
		after := c.sum
		require.Equal(t, before, after)
		require.Equal(t, sizeOf(t, dir), after)
	}
	for i := range 2 {
		s := aSource(byte(i+3), 5000)
		keys = append(keys, keyOf(s))
		require.NoError(t, c.Store(alice, keys[i+3], s))
	}
	have := func(id string, k Key) bool { s, _ := c.Load(t.Context(), id, k, numerics.Reference); return s != nil }
	require.False(t, have(alice, keys[1]), "the one that was not used for longest")
	require.False(t, have(alice, keys[0]), "the next")
	require.True(t, have(alice, keys[4]))
	require.False(t, have(mary, keys[4]), "another identity's")
	require.LessOrEqual(t, sizeOf(t, dir), int64(bound))
	require.ErrorContains(t, c.Store(alice, Key{}, aSource(9, bound)), "half")

	require.NoError(t, c.Store(mary, keys[4], aSource(4, 5000)))
	n, _ := c.Purge(alice, &keys[4])
	require.EqualValues(t, 1, n)
	require.True(t, have(mary, keys[4]))
	n, _ = c.Purge(alice, &keys[4])
	require.Zero(t, n)
	_, size := c.Purge(alice, nil)
	require.NotZero(t, size)
	require.True(t, have(mary, keys[4]))
	n, _ = c.Purge("", nil)
	require.EqualValues(t, 1, n)
	require.Zero(t, sizeOf(t, dir))
}

// TestCacheForgetsWhatIsDamaged puts other things in an entry's place.
func TestCacheForgetsWhatIsDamaged(t *testing.T) {
	c, err := OpenCache(t.TempDir(), 1<<20, ane.Info{})
	require.NoError(t, err)
	s := aSource(1, 10)
	k := keyOf(s)
	for what, put := range map[string]func(path string) error{
		"cut":    func(p string) error { return os.Truncate(p, 20) },
		"longer": func(p string) error { return os.Truncate(p, 500) },
		"other":  func(p string) error { return os.WriteFile(p, []byte("what is this"), 0o600) },
	} {
		require.NoError(t, c.Store(alice, k, s))
		require.NoError(t, put(path(c, alice, k)))
		got, damaged := c.Load(t.Context(), alice, k, numerics.Reference)
		require.Nil(t, got, what)
		require.True(t, damaged, what)
		require.NoFileExists(t, path(c, alice, k))
	}
	require.NoError(t, os.MkdirAll(path(c, alice, k), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path(c, alice, k), "x"), nil, 0o600))
	got, _ := c.Load(t.Context(), alice, k, numerics.Reference)
	require.Nil(t, got)
	require.Error(t, c.Store(alice, k, s))
	require.NoError(t, os.RemoveAll(path(c, alice, k)))
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, path(c, alice, k)))
	got, _ = c.Load(t.Context(), alice, k, numerics.Reference)
	require.Nil(t, got)
	require.FileExists(t, target)

	temp := filepath.Join(c.dir, ".wholefile-0.tmp")
	require.NoError(t, os.WriteFile(temp, nil, 0o600))
	c.list(alice)
	require.FileExists(t, temp, "another broker may be writing it")
	long := time.Now().Add(-2 * stale)
	require.NoError(t, os.Chtimes(temp, long, long))
	c.list(alice)
	require.NoFileExists(t, temp)
}

func TestCacheOfManyWriters(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		c, err := OpenCache(dir, 20_000, ane.Info{})
		require.NoError(t, err)
		all.Go(func() {
			for i := range 100 {
				s := aSource(byte(i%7), 2000)
				k := keyOf(s)
				if err := c.Store(alice, k, s); err != nil {
					t.Error(err)
				}
				got, damaged := c.Load(t.Context(), alice, k, numerics.Reference)
				if damaged || got != nil && keyOf(got) != k {
					t.Error("damaged by another writer")
				}
				if i%10 == 0 {
					c.Purge(alice, nil)
				}
			}
		})
	}
	all.Wait()
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCacheOfOthers(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777))
	_, err := OpenCache(dir, 1<<20, ane.Info{})
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, "0777 lets others write")
	require.NoError(t, os.Chmod(dir, 0o755))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, -1))
		_, err = OpenCache(dir, 1<<20, ane.Info{})
		require.ErrorIs(t, err, ane.ErrDenied)
		require.NoError(t, os.Chown(dir, 0, -1))
	}
	c, err := OpenCache(dir, 1<<20, ane.Info{})
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

// fullEnv names the folder of the cache to a process that may write no file.
const fullEnv = "ANEKIT_CACHE_TEST_FULL"

// TestCacheOnAFullDisk: a program that cannot be written is not kept, and nothing is left of it.
func TestCacheOnAFullDisk(t *testing.T) {
	if dir := os.Getenv(fullEnv); dir != "" {
		// Every file that is longer fails to be written, as on a disk that is full.
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64, Max: 64}))
		c, err := OpenCache(dir, 1<<20, ane.Info{})
		require.NoError(t, err)
		s := aSource(1, 5000)
		require.Error(t, c.Store(alice, keyOf(s), s))
		return
	}
	leaktest.SkipEmulated(t)
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestCacheOnAFullDisk$")
	cmd.Env = append(os.Environ(), fullEnv+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestModesAreEntriesOfTheirOwn: one text in two modes is two programs, and the key of one is none of the other.
func TestModesAreEntriesOfTheirOwn(t *testing.T) {
	s := &Source{text: []byte("x")}
	c, err := OpenCache(t.TempDir(), 1<<20, ane.Info{})
	require.NoError(t, err)
	plain := keyOf(s)
	m6, err := s.Key(t.Context(), InfoOf(c.engine, numerics.M6))
	require.NoError(t, err)
	require.NotEqual(t, plain, m6)
	require.NoError(t, c.Store(alice, m6, s))
	got, damaged := c.Load(t.Context(), alice, m6, numerics.Reference)
	require.Nil(t, got)
	require.False(t, damaged, "it is sound, of another mode")
	got, _ = c.Load(t.Context(), alice, m6, numerics.M6)
	require.NotNil(t, got)
}
