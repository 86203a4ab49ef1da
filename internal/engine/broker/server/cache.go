package server

import (
	"container/list"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/wholefile"
)

// cache keeps validated programs on disk, a folder for each identity and a file
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
type cache struct {
	dir    string // empty: nothing is kept
	bound  int64  // bytes on disk
	engine ane.Info

	mu    sync.Mutex // guards what follows; held while files are removed
	sum   int64      // bytes on disk of all entries
	have  map[entryName]*list.Element
	order *list.List     // of kept, that which was used last at the front
	parts map[string]int // entries of each partition
}

// entryName tells entries apart.
type entryName struct {
	partition string
	key       Key
}

// kept is an entry of the cache.
type kept struct {
	name entryName
	size int64     // bytes on disk
	used time.Time // while the folder is read
}

// stale is when a temporary file of a writer that was killed is removed.
const stale = time.Hour

// suffix marks the files that are entries.
const suffix = ".program"

// openCache makes the folder, or reads what is there. A broker whose cache cannot be had
// works without.
func openCache(dir string, bound int64) (*cache, error) {
	if dir == "" {
		return &cache{}, nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = makeCache(dir)
	}
	if err != nil {
		return &cache{}, &ane.Error{Op: "cache", Engine: Name, Name: dir, Err: err,
			Hint: "name a real folder that this user alone may write; programs are not cached"}
	}
	c := &cache{dir: dir, bound: bound, have: map[entryName]*list.Element{}, order: list.New(),
		parts: map[string]int{}}
	c.scan()
	return c, nil
}

// makeCache makes the folder of a cache, or refuses one that another user could write or replace.
func makeCache(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return trusted(dir)
}

func (c *cache) partition(id admission.Identity) string { return filepath.Join(c.dir, id.String()) }

func (c *cache) path(id admission.Identity, k Key) string { return c.file(entryName{id.String(), k}) }

func (c *cache) file(n entryName) string {
	return filepath.Join(c.dir, n.partition, n.key.String()+suffix)
}

// load returns the program of a key that was compiled in a mode, or nil. An entry that is damaged, or whose
// content has another key, is removed.
func (c *cache) load(id admission.Identity, k Key, m numerics.Mode) (s *source, damaged bool) {
	if c.dir == "" {
		return nil, false
	}
	name := entryName{id.String(), k}
	path := c.file(name)
	if err := c.trusts(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false // store tells why
	}
	b, size, err := c.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.drop(name)
		return nil, false
	}
	if err == nil {
		s, err = readEntry(b, k)
	}
	if err == nil && s.key(infoOf(c.engine, m)) != k {
		for _, other := range numerics.Modes() {
			if s.key(infoOf(c.engine, other)) == k {
				return nil, false
			}
		}
		err = errEntry // the checksum fits: the entry was rewritten with it
	}
	if err != nil {
		c.drop(name)
		return nil, true
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // the order of the next broker; a failure makes this one go early
	c.note(name, size)
	return s, false
}

// has reports whether the cache knows of an entry, which it counts as used. It does not read the
// entry: a compile by its key reports damage.
func (c *cache) has(id admission.Identity, k Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.have[entryName{id.String(), k}]
	if at == nil {
		return false
	}
	if info, err := os.Lstat(c.path(id, k)); err != nil || !info.Mode().IsRegular() {
		return false
	}
	c.order.MoveToFront(at)
	return true
}

// read returns a whole file of the cache, and its bytes on disk. Another one may take its
// name meanwhile.
func (c *cache) read(path string) ([]byte, int64, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, errEntry
	}
	f, info, err := openRegular(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if info.Size() > c.bound {
		return nil, 0, errEntry
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, onDisk(info), err
}

// attempts bounds how often store makes a partition: another broker may remove it while it is empty.
const attempts = 100

// store keeps a program and makes room for it. The error says why it is not kept.
func (c *cache) store(id admission.Identity, k Key, s *source) error {
	if c.dir == "" {
		return nil
	}
	if need := s.bytes(); need > c.bound/2 {
		return errors.New("the program takes more than half of the cache")
	}
	name := entryName{id.String(), k}
	path := c.file(name)
	var err error
	for range attempts {
		if err = c.makePartition(filepath.Dir(path)); err == nil {
			err = wholefile.Replace(path, func(w io.Writer) error { return writeEntry(w, k, s) })
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		c.tidy(name.partition)
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil // another broker removed it
	}
	c.note(name, onDisk(info))
	return nil
}

// makePartition makes a partition, or refuses one that is not this user's alone.
func (c *cache) makePartition(path string) error {
	if _, err := os.Lstat(c.dir); errors.Is(err, fs.ErrNotExist) { // it was removed
		if err := makeCache(c.dir); err != nil {
			return err
		}
	}
	if err := trusted(c.dir); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return trusted(path)
}

// trusts is trusted for the folder of the cache and a partition in it.
func (c *cache) trusts(partition string) error {
	if err := trusted(c.dir); err != nil {
		return err
	}
	return trusted(partition)
}

// note enters an entry that was used, and removes those that were not for longest until
// the rest is within the bound.
func (c *cache) note(n entryName, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enter(&kept{name: n, size: size})
	for c.sum > c.bound && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

// enter puts an entry to the front. The caller holds the lock.
func (c *cache) enter(e *kept) {
	if old := c.have[e.name]; old != nil {
		c.sum += e.size - old.Value.(*kept).size
		old.Value = e
		c.order.MoveToFront(old)
		return
	}
	c.have[e.name] = c.order.PushFront(e)
	c.sum += e.size
	c.parts[e.name.partition]++
}

// remove removes an entry's file and forgets it. The caller holds the lock.
func (c *cache) remove(at *list.Element) {
	e := at.Value.(*kept)
	dir := filepath.Join(c.dir, e.name.partition)
	own := c.trusts(dir) == nil
	if own {
		_ = os.Remove(c.file(e.name)) // gone already, or found once more
	}
	c.order.Remove(at)
	delete(c.have, e.name)
	c.sum -= e.size
	if c.parts[e.name.partition]--; c.parts[e.name.partition] == 0 {
		delete(c.parts, e.name.partition)
		if own {
			_ = os.Remove(dir) // another broker may use it
		}
	}
}

// drop removes the entry of a name, whether it is known or not.
func (c *cache) drop(n entryName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.have[n]; at != nil {
		c.remove(at)
		return
	}
	if c.trusts(filepath.Join(c.dir, n.partition)) == nil {
		_ = os.Remove(c.file(n))
	}
}

// tidy removes a partition that has nothing in it.
func (c *cache) tidy(partition string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if dir := filepath.Join(c.dir, partition); c.parts[partition] == 0 && c.trusts(dir) == nil {
		_ = os.Remove(dir)
	}
}

// scan reads the folder: entries, from the one that was not used for longest. It removes
// what writers that were killed have left, and partitions without entries.
func (c *cache) scan() {
	folders, _ := os.ReadDir(c.dir) // whatever cannot be read is not there, as far as a cache is concerned
	var all []*kept
	for _, d := range folders {
		if isPartition(d.Name()) {
			all = append(all, c.list(d.Name())...)
		}
	}
	slices.SortFunc(all, func(a, b *kept) int { return a.used.Compare(b.used) })
	c.mu.Lock()
	for _, e := range all {
		c.enter(e)
	}
	for c.sum > c.bound {
		c.remove(c.order.Back())
	}
	c.mu.Unlock()
	for _, d := range folders {
		if isPartition(d.Name()) {
			c.tidy(d.Name())
		}
	}
}

// isPartition reports whether a name is one that Identity.String makes.
func isPartition(name string) bool {
	user, executable, ok := strings.Cut(name, "-")
	_, err := strconv.ParseUint(user, 10, 32)
	return ok && err == nil && isHash(executable)
}

// list returns the entries of a partition on disk.
func (c *cache) list(partition string) (found []*kept) {
	dir := filepath.Join(c.dir, partition)
	if c.trusts(dir) != nil {
		return nil
	}
	files, _ := os.ReadDir(dir)
	for _, d := range files {
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		stem, entry := strings.CutSuffix(d.Name(), suffix)
		switch key, err := parseKey(stem); {
		case entry && err == nil:
			found = append(found, &kept{entryName{partition, key}, onDisk(info), info.ModTime()})
		case strings.HasSuffix(d.Name(), ".tmp") && time.Since(info.ModTime()) > stale:
			_ = os.Remove(filepath.Join(dir, d.Name()))
		}
	}
	return found
}

// purge removes one entry of an identity, or all of them when k is nil, and tells what it
// removed, in bytes on disk.
func (c *cache) purge(id admission.Identity, k *Key) (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	all := c.list(id.String())
	if k != nil {
		all = slices.DeleteFunc(all, func(e *kept) bool { return e.name.key != *k })
	}
	return c.removeAll(all)
}

// purgeAll removes what all identities have.
func (c *cache) purgeAll() (files uint32, bytes uint64) {
	if c.dir == "" {
		return 0, 0
	}
	folders, _ := os.ReadDir(c.dir)
	for _, d := range folders {
		if isPartition(d.Name()) {
			n, size := c.removeAll(c.list(d.Name()))
			files, bytes = files+n, bytes+size
			c.tidy(d.Name())
		}
	}
	return files, bytes
}

// removeAll removes entries that were found on disk.
func (c *cache) removeAll(all []*kept) (files uint32, bytes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range all {
		c.enter(e) // those of another broker too
		c.remove(c.have[e.name])
		files++
		bytes += uint64(e.size)
	}
	return files, bytes
}

// totals are the entries that the cache knows of, and their bytes on disk.
func (c *cache) totals() (entries int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.have), c.sum
}
