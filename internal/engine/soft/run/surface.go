package run

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Sharing describes how kernels access a tensor's pages on this system.
var Sharing = map[bool]string{
	true:  "each surface is mapped a second time by its handle",
	false: "the process's own mapping of each surface",
}[host.Remap]

// Surfaces maps each Block once, for any number of requests. The zero value has none.
type Surfaces struct {
	mu   sync.Mutex
	open map[*unimem.Block]*surface
}

// surface is the engine's own mapping of a Block.
type surface struct {
	*unimem.Mapping
	users int
}

// Acquire maps b, or adds a user to its mapping, and returns the bytes.
func (s *Surfaces) Acquire(b *unimem.Block) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*unimem.Block]*surface{}
	}
	f := s.open[b]
	if f == nil {
		m, err := unimem.Map(b)
		if err != nil {
			return nil, &ane.Error{Op: "bind", Engine: Name, Err: err,
				Detail: "the surface cannot be mapped by its handle"}
		}
		f = &surface{Mapping: m}
		s.open[b] = f
	}
	f.users++
	return f.Bytes(), nil
}

// Release removes one user and unmaps b after the last.
func (s *Surfaces) Release(b *unimem.Block) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[b]
	if f.users--; f.users > 0 {
		return nil
	}
	delete(s.open, b)
	return f.Close()
}

// Close unmaps the remaining Blocks.
func (s *Surfaces) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for b, f := range s.open {
		delete(s.open, b)
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
