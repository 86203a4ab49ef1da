package device

import (
	"errors"
	"maps"
	"sync"

	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

type block = unimem.Block

// surfaces keeps the framework's wrapper of each Block's surface, made once and
// released when the Block or the engine ends.
type surfaces struct {
	engine *Engine
	mu     sync.Mutex
	open   map[*block]*surface
}

// surface is one IOSurface.
type surface struct {
	Surface
	wrapper *objcbridge.Surface
	cancel  func() bool // of AtClose

	making sync.Mutex // held while it is wrapped or released, each of which may hang
	made   bool

	mu       sync.Mutex
	running  int  // requests that run with the CPU's lock given up
	unlocked bool // it is given up: while requests run, and after it could not be taken back
}

// wrap returns the surface of b. The caller holds b, so it stays until he lets go.
func (s *surfaces) wrap(b *block) (*surface, error) {
	f, err := s.of(b)
	if err != nil {
		return nil, s.engine.fault("bind", "", err)
	}
	f.making.Lock()
	defer f.making.Unlock()
	if f.made {
		return f, nil
	}
	if f.Surface, err = s.engine.cfg.Surface(b); err != nil {
		return nil, err
	}
	f.made = true
	if f.wrapper, err = s.engine.bridge.WrapSurface(f.Ref, 0); err != nil {
		return nil, errors.Join(s.engine.fault("bind", "", err), f.undo())
	}
	return f, nil
}

// of returns the surface of b, wrapped or not, which ends with b.
func (s *surfaces) of(b *block) (*surface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[b]; f != nil {
		return f, nil
	}
	cancel, err := b.AtClose(func() { s.forget(b) })
	if err != nil {
		return nil, err
	}
	f := &surface{cancel: cancel}
	s.open[b] = f
	return f, nil
}

// forget ends the wrapper of a Block that is being closed. It stays listed until
// then, so that close waits for it.
func (s *surfaces) forget(b *block) {
	s.mu.Lock()
	f := s.open[b]
	s.mu.Unlock()
	if f != nil {
		_ = f.release() // Close of the Block has no way to report it
		s.drop(b)
	}
}

func (s *surfaces) drop(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, b)
}

// close ends the wrappers that are left.
func (s *surfaces) close() error {
	s.mu.Lock()
	left := maps.Clone(s.open)
	s.mu.Unlock()
	var errs []error
	for b, f := range left {
		f.cancel() // when it is too late for that, forget finds nothing to do
		errs = append(errs, f.release())
		s.drop(b)
	}
	return errors.Join(errs...)
}

// release undoes wrap, once.
func (f *surface) release() error {
	f.making.Lock()
	defer f.making.Unlock()
	return f.undo()
}

// undo is release for those who hold making.
func (f *surface) undo() error {
	if !f.made {
		return nil
	}
	f.made = false
	var err error
	if f.unlocked { // the Block gives back the lock that it took
		err = f.wrapper.Lock()
	}
	f.wrapper.Close()
	if f.Release != nil {
		err = errors.Join(err, f.Release())
	}
	return err
}

// enter gives up the CPU's lock for a run; leave takes it back after the last. When
// it cannot be had, the next leave or release tries again.
func (f *surface) enter() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unlocked {
		if err := f.wrapper.Unlock(); err != nil {
			return err
		}
		f.unlocked = true
	}
	f.running++
	return nil
}

func (f *surface) leave() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running--; f.running > 0 {
		return nil
	}
	err := f.wrapper.Lock()
	f.unlocked = err != nil
	return err
}
