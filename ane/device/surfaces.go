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

	mu      sync.Mutex
	running int // requests that run with the CPU's lock given up
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

// forget ends the wrapper of a Block that is being closed.
func (s *surfaces) forget(b *block) {
	s.mu.Lock()
	f := s.open[b]
	delete(s.open, b)
	s.mu.Unlock()
	if f != nil {
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
		if f.cancel() {
			errs = append(errs, f.release())
		}
	}
	return errors.Join(errs...)
}

func (f *surface) release() error {
	f.wrapper.Close()
	if f.Release == nil {
		return nil
	}
	return f.Release()
}

// enter gives up the CPU's lock for a run; leave takes it back after the last.
func (f *surface) enter() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running == 0 {
		if err := f.wrapper.Unlock(); err != nil {
			return err
		}
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
	return f.wrapper.Lock()
}
