package broker

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// shelf finds weight files that a program of the engine has sent already, so that programs of one model, such as those
// of a step and of a chunk, share one copy in one memfd. Files count by their content.
type shelf struct {
	limit int // bytes of the memfds of one upload

	mu   sync.Mutex
	have map[digest]slot
}

// digest is the hash and the size of a content.
type digest struct {
	sum  xxh3.Uint128
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

// digestOf is the digest of a content.
func digestOf(content [][]byte) (d digest) {
	h := xxh3.New()
	for _, part := range content {
		_, _ = h.Write(part) // it does not fail
		d.size += len(part)
	}
	d.sum = h.Sum128()
	return d
}

// find returns where a file of this content lies, for one more user of its memfd.
func (s *shelf) find(content [][]byte, d digest) (slot, bool) {
	s.mu.Lock()
	at, ok := s.have[d]
	if ok {
		at.file.users++
	}
	s.mu.Unlock()
	if ok && !at.holds(content) {
		_ = s.release(at.file) // nothing was written
		return slot{}, false
	}
	return at, ok
}

// holds reports whether the content lies in the slot: equal digests are no proof.
func (at slot) holds(content [][]byte) bool {
	file := io.NewSectionReader(at.file, int64(at.offset), int64(at.file.size))
	buf := make([]byte, 64<<10)
	for _, part := range content {
		for some := range slices.Chunk(part, len(buf)) {
			if _, err := io.ReadFull(file, buf[:len(some)]); err != nil || !bytes.Equal(buf[:len(some)], some) {
				return false
			}
		}
	}
	return true
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
	m := &memfd{File: f, users: 1}
	for _, part := range content {
		m.size += len(part)
	}
	return m, nil
}
