package soft

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// sharing describes how kernels access a tensor's pages on this system.
var sharing = map[bool]string{
	true:  "each surface is mapped a second time by its handle",
	false: "the process's own mapping of each surface",
}[host.Remap]

// surfaces maps each Block once, for any number of requests.
type surfaces struct {
	mu   sync.Mutex
	open map[*block]*surface
}

// surface is the engine's own mapping of a Block.
type surface struct {
	mapping *unimem.Mapping
	users   int
}

// acquire maps b, or adds a user to its mapping.
func (s *surfaces) acquire(b *block) (*surface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[b]
	if f == nil {
		m, err := unimem.Map(b)
		if err != nil {
			return nil, &ane.Error{Op: "bind", Engine: Name, Err: err,
				Detail: "the surface cannot be mapped by its handle"}
		}
		f = &surface{mapping: m}
		s.open[b] = f
	}
	f.users++
	return f, nil
}

// release removes one user and unmaps b after the last.
func (s *surfaces) release(b *block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[b]
	if f.users--; f.users > 0 {
		return nil
	}
	delete(s.open, b)
	return f.mapping.Close()
}

// close unmaps the remaining Blocks.
func (s *surfaces) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for b, f := range s.open {
		delete(s.open, b)
		errs = append(errs, f.mapping.Close())
	}
	return errors.Join(errs...)
}
