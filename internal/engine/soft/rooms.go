package soft

import (
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/unimem"
)

// room is the memory of one run at a time.
type room struct {
	scratch []byte
	work    [][]byte        // a workspace for each worker
	tapes   [2]*unimem.Tape // of scratch and work; nil for none
	changes int             // of work, so that invocations notice
}

// workspaces takes the memory of n workers instead of what there is. No run uses that.
func (r *room) workspaces(p *plan.Plan, n int) error {
	r.changes++
	if old := r.tapes[1]; old != nil {
		r.tapes[1], r.work = nil, nil
		if err := old.Close(); err != nil {
			return err
		}
	}
	t, all, err := private(n * p.Work)
	r.tapes[1] = t
	for ; len(all) > 0; all = all[p.Work:] {
		r.work = append(r.work, all[:p.Work:p.Work])
	}
	return err
}

// rooms are the memory of a program and its instances, all of which need as much: as many rooms as have run at once.
type rooms struct {
	mu     sync.Mutex
	all    []*room // while an executable is loaded
	free   []*room
	loaded int // executables
}

// load counts an executable. The first one makes a room.
func (s *rooms) load(p *plan.Plan, workers int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded++; s.loaded > 1 {
		return nil
	}
	r, err := s.add(p, workers)
	if err == nil {
		s.free = append(s.free, r)
	}
	return err
}

// add makes a room, which is in use.
func (s *rooms) add(p *plan.Plan, workers int) (*room, error) {
	r := &room{}
	var err error
	if r.tapes[0], r.scratch, err = private(p.Scratch); err != nil {
		return nil, err
	}
	s.all = append(s.all, r)
	return r, r.workspaces(p, workers)
}

// unload frees the rooms after the last executable: no run uses them.
func (s *rooms) unload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded--; s.loaded > 0 {
		return nil
	}
	var errs []error
	for _, r := range s.all {
		for _, t := range r.tapes {
			if t != nil {
				errs = append(errs, t.Close())
			}
		}
	}
	s.all, s.free = nil, nil
	return errors.Join(errs...)
}

// any returns a room to bind to, free or not.
func (s *rooms) any() *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return &room{}
	}
	return s.all[0]
}

// take returns a free room, which is last if that is free: an invocation is bound to it. give ends its use.
func (s *rooms) take(last *room, p *plan.Plan, workers int) (r *room, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.free, last)
	switch {
	case len(s.free) == 0:
		r, err = s.add(p, workers)
	case at < 0:
		at = len(s.free) - 1
		fallthrough
	default:
		r = s.free[at]
		s.free = slices.Delete(s.free, at, at+1)
		if p.Work > 0 && len(r.work) < workers {
			err = r.workspaces(p, workers)
		}
	}
	if err != nil && r != nil { // a later run tries again
		s.free = append(s.free, r)
	}
	return r, err
}

func (s *rooms) give(r *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, r)
}
