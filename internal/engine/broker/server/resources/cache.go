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
// never an error, and neither is a disk that takes none. A broker reads the folder once,
// when it starts, and counts from then on what it reads and writes itself: several brokers
// together may keep as many times the bound.
type Cache struct {
	dir    string // empty: nothing is kept
	bound  int64  // bytes on disk
	engine ane.Info

	mu   sync.Mutex // guards what follows; held while files are removed
	sum  int64      // bytes on disk of all entries
	have map[string]entry
}

// entry is what the cache knows of a file, by its path below the folder.
type entry struct {
	size int64 // bytes on disk
	used time.Time
}

// stale is when a temporary file of a writer that was killed is removed.
const stale = time.Hour

// suffix marks the files that are entries.
const suffix = ".program"

// OpenCache makes the folder, or reads what is there. A broker whose cache cannot be had
// works without.
func OpenCache(dir string, bound int64, engine ane.Info) (*Cache, error) {
	c := &Cache{bound: bound, engine: engine, have: map[string]entry{}}
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
	for _, partition := range c.partitions() {
		for name, e := range c.list(partition) {
			c.note(name, e)
		}
	}
	return c, nil
}

// makeOwn makes a folder, or refuses one that another user could write or replace.
func makeOwn(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return trusted(dir)
}

// partitions are the folders of identities, of which there are none in a folder that cannot be read.
func (c *Cache) partitions() (names []string) {
	if c.dir == "" || trusted(c.dir) != nil {
		return nil
	}
	all, _ := os.ReadDir(c.dir)
	for _, d := range all {
		if trusted(filepath.Join(c.dir, d.Name())) == nil {
			names = append(names, d.Name())
		}
	}
	return names
}

// list returns the entries of a partition on disk, and removes what writers that were killed have left.
func (c *Cache) list(partition string) map[string]entry {
	dir := filepath.Join(c.dir, partition)
	files, _ := os.ReadDir(dir) // whatever cannot be read is not there, as far as a cache is concerned
	found := map[string]entry{}
	for _, d := range files {
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		stem, ours := strings.CutSuffix(d.Name(), suffix)
		switch _, err := ParseKey(stem); {
		case ours && err == nil:
			found[filepath.Join(partition, d.Name())] = entry{onDisk(info), info.ModTime()}
		case strings.HasSuffix(d.Name(), ".tmp") && time.Since(info.ModTime()) > stale:
			_ = os.Remove(filepath.Join(dir, d.Name()))
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
		c.drop(name)
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
			c.note(name, entry{onDisk(info), time.Now()})
			_ = os.Chtimes(path, time.Time{}, time.Now()) // the order of the next broker
			return s, false
		case err != nil || slices.ContainsFunc(numerics.Modes(), is):
			return nil, false // out of time, or a program of another mode
		}
	}
	c.drop(name)
	return nil, true
}

// Has reports whether the cache knows of an entry, which it counts as used. It does not read the
// entry: a compile by its key reports damage.
func (c *Cache) Has(partition string, k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := file(partition, k)
	e, ok := c.have[name]
	if ok {
		info, err := os.Lstat(filepath.Join(c.dir, name))
		ok = err == nil && info.Mode().IsRegular()
	}
	if ok {
		e.used = time.Now()
		c.have[name] = e
	}
	return ok
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
	if info, err := os.Lstat(path); err == nil { // else another broker removed it
		c.note(name, entry{onDisk(info), time.Now()})
	}
	return nil
}

// note enters an entry that was used, and removes those that were not for longest until
// the rest is within the bound.
func (c *Cache) note(name string, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum += e.size - c.have[name].size
	c.have[name] = e
	for c.sum > c.bound {
		oldest := name
		for other, e := range c.have {
			if e.used.Before(c.have[oldest].used) {
				oldest = other
			}
		}
		c.remove(oldest)
	}
}

// remove removes an entry's file, whether it is known or not, and its folder if that was the last. The caller holds the
// lock.
func (c *Cache) remove(name string) {
	c.sum -= c.have[name].size
	delete(c.have, name)
	if c.trusts(name) == nil {
		path := filepath.Join(c.dir, name)
		_ = os.Remove(path) // gone already, or found once more
		_ = os.Remove(filepath.Dir(path))
	}
}

func (c *Cache) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(name)
}

// Purge removes one entry of an identity, or all of them when k is nil, or those of all identities when partition is
// empty, and tells what it removed, in bytes on disk.
func (c *Cache) Purge(partition string, k *Key) (files uint32, bytes uint64) {
	for _, have := range c.partitions() {
		if partition != "" && partition != have {
			continue
		}
		for name, e := range c.list(have) { // those of another broker too
			if k == nil || name == file(have, *k) {
				c.drop(name)
				files++
				bytes += uint64(e.size)
			}
		}
	}
	return files, bytes
}
