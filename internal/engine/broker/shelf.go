package broker

import (
	"bytes"
	"errors"
	"os"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// shelf finds weight files that a program of the engine has sent already, so that programs of one model, such as those
// of a step and of a chunk, share one copy in one memfd. Files count by their content.
type shelf struct {
	most int // bytes of the memfds of one upload, for tests; 0 means wire.MaxUpload

	mu   sync.Mutex
	have map[xxh3.Uint128]slot
}

// slot is where a weight file lies.
type slot struct {
	file         *memfd
	offset, size int
}

// memfd is sealed memory that uploads share. The last one closes it. The mutex of the shelf guards users.
type memfd struct {
	*os.File
	size  int
	users int
	kept  []xxh3.Uint128 // what the shelf finds in it
}

// leastKept is the size of the smallest weight file that programs share: a smaller one is not worth a descriptor.
const leastKept = 64 << 10

// find returns where a file of this content lies, for one more user of its memfd.
func (s *shelf) find(content [][]byte, sum xxh3.Uint128) (slot, bool) {
	s.mu.Lock()
	at, ok := s.have[sum]
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

// holds reports whether the file is the content: equal sums are no proof.
func (at slot) holds(content [][]byte) bool {
	var some [64 << 10]byte
	end := at.offset + at.size
	read := at.offset
	for _, part := range content {
		for len(part) > 0 {
			n := min(len(part), len(some))
			if read+n > end {
				return false
			}
			if got, err := at.file.ReadAt(some[:n], int64(read)); got < n || err != nil {
				return false
			}
			if !bytes.Equal(some[:n], part[:n]) {
				return false
			}
			part, read = part[n:], read+n
		}
	}
	return read == end
}

// keep lets later programs find a file.
func (s *shelf) keep(sum xxh3.Uint128, at slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.have[sum]; ok {
		return
	}
	if s.have == nil {
		s.have = map[xxh3.Uint128]slot{}
	}
	s.have[sum] = at
	at.file.kept = append(at.file.kept, sum)
}

// release removes a user of a memfd.
func (s *shelf) release(m *memfd) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	for _, sum := range m.kept {
		delete(s.have, sum)
	}
	return m.Close()
}

// seal makes a memfd with one user.
func seal(name string, content [][]byte) (*memfd, error) {
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

// sum is the hash of a content.
func sum(content [][]byte) (key xxh3.Uint128, size int) {
	h := xxh3.New()
	for _, part := range content {
		_, _ = h.Write(part) // it does not fail
		size += len(part)
	}
	return h.Sum128(), size
}

// limit is how many bytes the memfds of one upload may have.
func (s *shelf) limit() int {
	if s.most > 0 {
		return s.most
	}
	return wire.MaxUpload
}

// releaseAll removes a user of each.
func (s *shelf) releaseAll(files []*memfd) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, s.release(f))
	}
	return errors.Join(errs...)
}
