package broker

import (
	"errors"
	"hash/maphash"
	"maps"
	"os"
	"sync"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// shelf finds weight files that a program of the engine has sent already. Programs of one model, such as those of a
// step and of a chunk, then share one copy in one memfd. Files are equal if their content is.
type shelf struct {
	limit int             // bytes of the memfds of one upload
	seeds [2]maphash.Seed // of digests, so that no file can be made to equal another

	mu   sync.Mutex
	have map[digest]slot
}

// digest is the hash and the size of a content.
type digest struct {
	sum  [2]uint64
	size int
}

// slot is where a weight file lies.
type slot struct {
	file   *memfd
	offset int
}

// memfd is sealed memory that uploads share. The last one closes it. The mutex of the shelf guards users.
type memfd struct {
	*os.File
	size  int
	users int
}

// leastKept is the size of the smallest weight file that programs share: a smaller one is not worth a descriptor.
const leastKept = 64 << 10

// newShelf makes a shelf for uploads of at most limit bytes.
func newShelf(limit int) *shelf {
	return &shelf{limit: limit, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// digest is the digest of a content.
func (s *shelf) digest(content [][]byte) digest {
	d := digest{size: length(content)}
	for i, seed := range s.seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, part := range content {
			_, _ = h.Write(part) // it does not fail
		}
		d.sum[i] = h.Sum64()
	}
	return d
}

// length is how many bytes a content has.
func length(content [][]byte) (n int) {
	for _, part := range content {
		n += len(part)
	}
	return n
}

// find returns where a file lies, for one more user of its memfd.
func (s *shelf) find(d digest) (slot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.have[d]
	if ok {
		at.file.users++
	}
	return at, ok
}

// keep lets later programs find a file.
func (s *shelf) keep(d digest, at slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have == nil {
		s.have = map[digest]slot{}
	}
	if _, ok := s.have[d]; !ok {
		s.have[d] = at
	}
}

// release removes a user of each memfd.
func (s *shelf) release(files ...*memfd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, m := range files {
		if m.users--; m.users == 0 {
			maps.DeleteFunc(s.have, func(_ digest, at slot) bool { return at.file == m })
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

// seal makes a memfd with one user.
func seal(name string, content ...[]byte) (*memfd, error) {
	f, err := wire.Seal(name, content...)
	if err != nil {
		return nil, err
	}
	return &memfd{File: f, size: length(content), users: 1}, nil
}
