package resources

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
)

// Cache keeps validated programs on disk, in a file for each identity and key. The software engine has no form of a
// plan that could be stored, so a hit saves the upload. A client that names a key sends no text and no weights, and the
// broker makes the plan again, unless the program is still in memory.
//
// It is a real folder of this user, and no other user can write it. The broker computes the key of what it reads, and
// rejects a file with another name.
//
// Several brokers may use one folder: files appear whole, never change, and a broker that finds one gone or damaged
// compiles as if it had never been. Losing a file is never an error, and neither is a disk that takes none. A broker
// counts the bytes that it writes, and reads the folder when they may exceed the bound. So n brokers together may keep
// n times the bound.
type Cache struct {
	dir    string // empty: nothing is kept
	bound  int64  // bytes on disk
	engine ane.Info

	mu  sync.Mutex // held while the folder is read
	sum int64      // bytes on disk of all entries, at most
}

// entry is a file of the cache.
type entry struct {
	name string // of the file
	size int64  // bytes on disk
	used time.Time
}

// stale is when a temporary file of a writer that was killed is removed.
const stale = time.Hour

// entryName is how file names an entry. No other file is counted or removed.
const entryName = `^[0-9]+-[0-9a-f]{64}-[0-9a-f]{64}\.program$`

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

// list returns the entries of an identity, or of all when that is empty, on disk. What is not this user's
// alone, or cannot be read, is not there. It removes what writers that were killed have left.
func (c *Cache) list(identity string) (found []entry) {
	if trusted(c.dir) != nil {
		return nil
	}
	named := regexp.MustCompile(entryName)
	files, _ := os.ReadDir(c.dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case named.MatchString(f.Name()) && strings.HasPrefix(f.Name(), identity):
			found = append(found, entry{f.Name(), onDisk(info), info.ModTime()})
		case strings.HasPrefix(f.Name(), ".wholefile-") && time.Since(info.ModTime()) > stale:
			c.remove(f.Name())
		}
	}
	return found
}

// file is the name of an entry.
func file(identity string, k Key) string { return identity + "-" + k.String() + ".program" }

// Size is how long an entry is, which Load reads into memory; 0 for none.
func (c *Cache) Size(identity string, k Key) int64 {
	if size := c.size(file(identity, k)); size <= c.bound {
		return size
	}
	return 0
}

func (c *Cache) size(name string) int64 {
	if c.dir == "" || trusted(c.dir) != nil {
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
func (c *Cache) Load(ctx context.Context, identity string, k Key, m numerics.Mode) (s *Source, damaged bool) {
	name := file(identity, k)
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
func (c *Cache) Has(identity string, k Key) bool {
	if c.Size(identity, k) == 0 {
		return false
	}
	c.use(file(identity, k))
	return true
}

// Store keeps a program and makes room for it. The error says why it is not kept.
func (c *Cache) Store(identity string, k Key, s *Source) error {
	if c.dir == "" {
		return nil
	}
	if s.bytes() > c.bound/2 {
		return errors.New("the program takes more than half of the cache")
	}
	if err := makeOwn(c.dir); err != nil { // it may have been removed
		return err
	}
	name := file(identity, k)
	path := filepath.Join(c.dir, name)
	err := wholefile.Replace(path, func(w io.Writer) error { return s.write(context.Background(), w) })
	if err != nil {
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

// remove removes a file.
func (c *Cache) remove(name string) {
	if trusted(c.dir) == nil {
		_ = os.Remove(filepath.Join(c.dir, name)) // gone already, or found once more
	}
}

// Purge removes one entry of an identity, or all of them if k is nil. An empty identity means those of all identities.
// It returns the number of files removed, and their bytes on disk.
func (c *Cache) Purge(identity string, k *Key) (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	for _, e := range c.list(identity) { // those of another broker too
		if k == nil || e.name == file(identity, *k) {
			c.remove(e.name)
			files++
			bytes += uint64(e.size)
		}
	}
	return files, bytes
}
