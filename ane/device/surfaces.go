package device

import (
	"errors"
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

// surface is one wrapped IOSurface.
type surface struct {
	Surface
	wrapper *objcbridge.Surface
	cancel  func() bool // of AtClose

	mu       sync.Mutex
	running  int  // requests that run with the CPU's lock given up
	unlocked bool // it is given up: while requests run, and after it could not be taken back
}

// wrap returns the surface of b. The caller holds b, so it stays until he lets go.
func (s *surfaces) wrap(b *block) (*surface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[b]; f != nil {
		return f, nil
	}
	ref, err := s.engine.cfg.Surface(b)
	if err != nil {
		return nil, err
	}
	f := &surface{Surface: ref}
	if f.wrapper, err = s.engine.bridge.WrapSurface(ref.Ref, 0); err == nil {
		f.cancel, err = b.AtClose(func() { s.forget(b) })
	}
	if err != nil {
		return nil, errors.Join(s.engine.fault("bind", "", err), f.release())
	}
	s.open[b] = f
	return f, nil
}

// forget ends the wrapper of a Block that is being closed. Like close it holds the
// lock to the end, so that neither goes on while the other still releases.
func (s *surfaces) forget(b *block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.open[b]; f != nil {
		delete(s.open, b)
		_ = f.release() // Close of the Block has no way to report it
	}
}

// close ends the wrappers that are left.
func (s *surfaces) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for b, f := range s.open {
		delete(s.open, b)
		f.cancel() // when it is too late for that, forget waits and finds nothing left
		errs = append(errs, f.release())
	}
	return errors.Join(errs...)
}

func (f *surface) release() error {
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
