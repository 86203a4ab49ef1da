package apple

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
	users  int // invocations that have it bound; guarded by making
	lock   *lock
}

// wrap returns the surface of b for one user more, until leaveOut. The caller holds b.
func (s *surfaces) wrap(b *block) (*surface, error) {
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
		return nil, errors.Join(s.engine.fault("bind", "", err), f.undo())
	}
	f.lock = lockOf(f.Ref)
	f.users++
	return f, nil
}

// leaveOut ends the use by an invocation. The wrapper stays for the next.
func (f *surface) leaveOut() {
	f.making.Lock()
	defer f.making.Unlock()
	f.users--
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

// undo is release for callers that hold making.
func (f *surface) undo() error {
	if !f.made {
		return nil
	}
	f.made = false
	var err error
	if f.lock != nil {
		err, f.lock = f.drop(), nil
	}
	f.wrapper.Close()
	if f.Release != nil {
		err = errors.Join(err, f.Release())
	}
	return err
}
