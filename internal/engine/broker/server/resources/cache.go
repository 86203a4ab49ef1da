package resources

import (
	"context"
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
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
)

// Cache keeps validated programs on disk, a folder for each identity (its partition) and a file
// for each key. The software engine has no form of a plan that could be stored, so
// what a hit saves is the upload: a client that names a key sends no text and no
// weights, and the broker does not wait for them. The plan is made again, unless
// the program is in memory still.
//
// The folder and each partition are real folders of this user, and no other user can write them;
// what is read from them counts only if its key, computed again, is the one it is filed by.
//
// Several brokers may use one folder: files appear whole, never change, and a
// broker that finds one gone or damaged compiles as if it had never been. Losing a file is
// never an error, and neither is a disk that takes none. A broker counts what it writes, and reads
// the folder when that may exceed the bound: several brokers together may keep as many times the bound.
type Cache struct {
	dir    string // empty: nothing is kept
	bound  int64  // bytes on disk
	engine ane.Info

	mu  sync.Mutex // held while the folder is read
	sum int64      // bytes on disk of all entries, at most
}

// entry is a file of the cache.
type entry struct {
	name string // below the folder
	size int64  // bytes on disk
	used time.Time
}

// stale is when a temporary file of a writer that was killed is removed.
const stale = time.Hour

// suffix marks the files that are entries.
const suffix = ".program"

// OpenCache makes the folder, or reads what is there. A broker whose cache cannot be had
// works without.
func OpenCache(dir string, bound int64, engine ane.Info) (*Cache, error) {
	c := &Cache{bound: bound, engine: engine}
	if dir == "" {
		return c, nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = makeOwn(dir)
	}
	if err != nil {
		return c, &ane.Error{Op: "cache", Engine: Name, Name: dir, Err: err,
			Hint: "name a real folder that this user alone may write; programs are not cached"}
	}
	c.dir = dir
	c.grow(bound + 1) // whatever there is
	return c, nil
}

// makeOwn makes a folder, or refuses one that another user could write or replace.
func makeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return trusted(dir)
}

// list returns the entries of an identity, or of all when partition is empty, on disk. What is not this user's
// alone, or cannot be read, is not there. It removes what writers that were killed have left.
func (c *Cache) list(partition string) (found []entry) {
	if partition == "" {
		partition = "*"
	}
	names, _ := fs.Glob(os.DirFS(c.dir), partition+"/*") // the pattern is well formed
	for _, name := range names {
		path := filepath.Join(c.dir, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || c.trusts(name) != nil {
			continue
		}
		stem, ours := strings.CutSuffix(filepath.Base(path), suffix)
		switch _, err := ParseKey(stem); {
		case ours && err == nil:
			found = append(found, entry{name, onDisk(info), info.ModTime()})
		case strings.HasSuffix(path, ".tmp") && time.Since(info.ModTime()) > stale:
			_ = os.Remove(path)
		}
	}
	return found
}

// file is the path of an entry below the folder.
func file(partition string, k Key) string { return filepath.Join(partition, k.String()+suffix) }

// trusts is trusted for the folder of the cache and that of an entry.
func (c *Cache) trusts(name string) error {
	if err := trusted(c.dir); err != nil {
		return err
	}
	return trusted(filepath.Dir(filepath.Join(c.dir, name)))
}

// Size is how long an entry is, which Load reads into memory; 0 for none.
func (c *Cache) Size(partition string, k Key) int64 {
	if size := c.size(file(partition, k)); size <= c.bound {
		return size
	}
	return 0
}

func (c *Cache) size(name string) int64 {
	if c.dir == "" || c.trusts(name) != nil {
		return 0
	}
	info, err := os.Lstat(filepath.Join(c.dir, name))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Load returns the program of a key that was compiled in a mode, or nil. An entry that is damaged, or whose
// content has another key, is removed.
func (c *Cache) Load(ctx context.Context, partition string, k Key, m numerics.Mode) (s *Source, damaged bool) {
	name := file(partition, k)
	size := c.size(name)
	if size == 0 {
		return nil, false
	}
	if size > c.bound {
		c.remove(name)
		return nil, true
	}
	path := filepath.Join(c.dir, name)
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err = io.ReadFull(f, b); err == nil {
		s, err = parseSource(b)
	}
	if err == nil {
		is := func(m numerics.Mode) bool {
			var key Key
			key, err = s.Key(ctx, InfoOf(c.engine, m))
			return err == nil && key == k
		}
		info, gone := f.Stat()
		switch {
		case gone != nil || info.Size() != size:
			err = errEntry
		case is(m):
			c.use(name)
			return s, false
		case err != nil || slices.ContainsFunc(numerics.Modes(), is):
			return nil, false // out of time, or a program of another mode
		}
	}
	c.remove(name)
	return nil, true
}

// use has an entry be removed later than those that were used before.
func (c *Cache) use(name string) {
	_ = os.Chtimes(filepath.Join(c.dir, name), time.Time{}, time.Now()) // a failure makes it go early
}

// Has reports whether there is an entry, which counts as used. It does not read the
// entry: a compile by its key reports damage.
func (c *Cache) Has(partition string, k Key) bool {
	if c.Size(partition, k) == 0 {
		return false
	}
	c.use(file(partition, k))
	return true
}

// attempts bounds how often Store makes a partition: another broker may remove it while it is empty.
const attempts = 100

// Store keeps a program and makes room for it. The error says why it is not kept.
func (c *Cache) Store(partition string, k Key, s *Source) error {
	if c.dir == "" {
		return nil
	}
	if s.bytes() > c.bound/2 {
		return errors.New("the program takes more than half of the cache")
	}
	name := file(partition, k)
	path := filepath.Join(c.dir, name)
	var err error
	for range attempts {
		if err = makeOwn(c.dir); err == nil {
			err = makeOwn(filepath.Dir(path))
		}
		if err == nil {
			err = wholefile.Replace(path, func(w io.Writer) error { return s.write(context.Background(), w) })
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		if c.trusts(name) == nil {
			_ = os.Remove(filepath.Dir(path)) // fails unless it is empty
		}
		return err
	}
	c.use(name)
	if info, err := os.Lstat(path); err == nil { // else another broker removed it
		c.grow(onDisk(info))
	}
	return nil
}

// grow counts an entry of so many bytes. When the bound may be exceeded it looks what there is, and removes what was
// not used for longest until an eighth is free.
func (c *Cache) grow(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sum += size; c.sum <= c.bound {
		return
	}
	all := c.list("")
	slices.SortFunc(all, func(a, b entry) int { return b.used.Compare(a.used) })
	c.sum = 0
	for _, e := range all {
		c.sum += e.size
	}
	full := c.sum > c.bound
	for last := len(all) - 1; full && c.sum > c.bound-c.bound/8; last-- {
		c.sum -= all[last].size
		c.remove(all[last].name)
	}
}

// remove removes an entry's file, and its folder if that was the last.
func (c *Cache) remove(name string) {
	if c.trusts(name) == nil {
		path := filepath.Join(c.dir, name)
		_ = os.Remove(path) // gone already, or found once more
		_ = os.Remove(filepath.Dir(path))
	}
}

// Purge removes one entry of an identity, or all of them when k is nil, or those of all identities when partition is
// empty, and tells what it removed, in bytes on disk.
func (c *Cache) Purge(partition string, k *Key) (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	for _, e := range c.list(partition) { // those of another broker too
		if k == nil || e.name == file(partition, *k) {
			c.remove(e.name)
			files++
			bytes += uint64(e.size)
		}
	}
	return files, bytes
}
