package apple

import (
	"errors"
	"maps"
	"sync"

	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// surfaces keeps the framework's wrapper of each Block's surface. A wrapper is made
// once and released with the Block or the engine.
type surfaces struct {
	engine *Engine
	mu     sync.Mutex
	open   map[*block]*surface
}

// surface is the IOSurface of a Block with its wrapper.
type surface struct {
	Surface
	block   *block
	wrapper *objcbridge.Surface
	cancel  func() bool // returned by AtClose

	making sync.Mutex // held during wrapping and closing, which may hang
	made   bool
	users  int // invocations that have bound it; guarded by making
	lock   *lock
}

// acquire returns the surface of b and adds a user until release. The caller holds b.
func (s *surfaces) acquire(b *block) (*surface, error) {
	f, err := s.of(b)
	if err != nil {
		return nil, s.engine.fault("bind", "", err)
	}
	f.making.Lock()
	defer f.making.Unlock()
	if f.made {
		f.users++
		return f, nil
	}
	if f.Surface, err = s.engine.cfg.Surface(b); err != nil {
		return nil, err
	}
	f.made = true
	if f.wrapper, err = s.engine.bridge.WrapSurface(f.Ref, 0); err != nil {
		return nil, errors.Join(s.engine.fault("bind", "", err), f.closeLocked())
	}
	f.lock = lockOf(f.ID, b)
	f.users++
	return f, nil
}

// release removes a user. The wrapper stays for the next.
func (f *surface) release() {
	f.making.Lock()
	defer f.making.Unlock()
	f.users--
}

// of returns the surface of b, wrapped or not. It is closed with b.
func (s *surfaces) of(b *block) (*surface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[b]; f != nil {
		return f, nil
	}
	cancel, err := b.AtClose(func() { s.closeFor(b) })
	if err != nil {
		return nil, err
	}
	f := &surface{block: b, cancel: cancel}
	s.open[b] = f
	return f, nil
}

// closeFor closes the wrapper of a Block that is being closed. The wrapper is listed
// until then, so that close waits for it.
func (s *surfaces) closeFor(b *block) {
	s.mu.Lock()
	f := s.open[b]
	s.mu.Unlock()
	if f != nil {
		_ = f.close() // Close of the Block has no way to report it
		s.remove(b)
	}
}

func (s *surfaces) remove(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, b)
}

// close closes the remaining wrappers.
func (s *surfaces) close() error {
	s.mu.Lock()
	left := maps.Clone(s.open)
	s.mu.Unlock()
	var errs []error
	for b, f := range left {
		f.cancel() // if closeFor already runs, one of the two does nothing
		errs = append(errs, f.close())
		s.remove(b)
	}
	return errors.Join(errs...)
}

// close undoes acquire, once.
func (f *surface) close() error {
	f.making.Lock()
	defer f.making.Unlock()
	return f.closeLocked()
}

// closeLocked is close for callers that hold making.
func (f *surface) closeLocked() error {
	if !f.made {
		return nil
	}
	f.made = false
	var err error
	if f.lock != nil {
		err, f.lock = f.dropLock(), nil
	}
	f.wrapper.Close()
	if f.Release != nil {
		err = errors.Join(err, f.Release())
	}
	return err
}
