package server

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/wholefile"
)

// cache keeps validated programs on disk, a folder for each identity and a file
// for each key. The software engine has no form of a plan that could be stored, so
// what a hit saves is the upload: a client that names a key sends no text and no
// weights, and the broker does not wait for them. The plan is made again, unless
// the program is in memory still.
//
// Several brokers may use one folder: files appear whole, never change, and a
// broker that finds one gone or damaged compiles as if it had never been. Losing a file is
// never an error, and neither is a disk that takes none.
type cache struct {
	dir   string // empty: nothing is kept
	bound int64
	mu    sync.Mutex // one sweep at a time
}

// stale is when a temporary file of a writer that was killed is removed.
const stale = time.Hour

// suffix marks the files that are entries.
const suffix = ".program"

// openCache makes the folder. A broker whose cache cannot be had works without.
func openCache(dir string, bound int64) (*cache, error) {
	if dir == "" {
		return &cache{}, nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = trusted(dir)
	}
	if err != nil {
		return &cache{}, &ane.Error{Op: "cache", Engine: Name, Name: dir, Err: err,
			Hint: "name a folder of this user's own that can be made; programs are not cached"}
	}
	return &cache{dir: dir, bound: bound}, nil
}

func (c *cache) partition(id Identity) string { return filepath.Join(c.dir, id.String()) }

func (c *cache) path(id Identity, k Key) string {
	return filepath.Join(c.partition(id), k.String()+suffix)
}

// load returns the program of a key, or nil. A damaged entry is removed.
func (c *cache) load(id Identity, k Key) (s *source, damaged bool) {
	if c.dir == "" {
		return nil, false
	}
	path := c.path(id, k)
	b, err := c.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err == nil {
		s, err = readEntry(b, k)
	}
	if err != nil {
		_ = os.Remove(path) // gone already, or found damaged once more
		return nil, true
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // entries go by their last use; a failure makes this one go early
	return s, false
}

// read returns a whole file of the cache. Another one may take its name meanwhile.
func (c *cache) read(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errEntry
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > c.bound {
		return nil, errEntry
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

// store keeps a program and makes room for it. The error says why it is not kept.
func (c *cache) store(id Identity, k Key, s *source) error {
	if c.dir == "" {
		return nil
	}
	if need := s.bytes(); need > c.bound/2 {
		return errors.New("the program takes more than half of the cache")
	}
	if err := os.Mkdir(c.partition(id), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	defer c.sweep()
	return wholefile.Replace(c.path(id, k), func(w io.Writer) error { return writeEntry(w, k, s) })
}

// kept is a file of the cache.
type kept struct {
	path string
	size int64
	used time.Time
}

// list returns the entries under dir, and removes what writers that were killed
// have left.
func (c *cache) list(dir string) []kept {
	var found []kept
	// Whatever cannot be read is not there, as far as a cache is concerned.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case strings.HasSuffix(path, suffix):
			found = append(found, kept{path, info.Size(), info.ModTime()})
		case strings.HasSuffix(path, ".tmp") && time.Since(info.ModTime()) > stale:
			_ = os.Remove(path)
		}
		return nil
	})
	return found
}

// sweep removes the entries that were not used for longest, until the rest is
// within the bound.
func (c *cache) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.list(c.dir)
	var sum int64
	for _, e := range all {
		sum += e.size
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, e := range all {
		if sum <= c.bound {
			return
		}
		if os.Remove(e.path) == nil {
			sum -= e.size
		}
	}
}

// purge removes one entry of an identity, or all of them when k is nil.
func (c *cache) purge(id Identity, k *Key) (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	if k == nil {
		return removeAll(c.list(c.partition(id)))
	}
	path := c.path(id, *k)
	info, err := os.Lstat(path)
	if err != nil {
		return 0, 0
	}
	return removeAll([]kept{{path: path, size: info.Size()}})
}

// purgeAll removes what all identities have.
func (c *cache) purgeAll() (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	return removeAll(c.list(c.dir))
}

func removeAll(list []kept) (files uint32, bytes uint64) {
	for _, e := range list {
		if os.Remove(e.path) == nil {
			files++
			bytes += uint64(e.size)
		}
	}
	return files, bytes
}
