package hal

import "slices"

// ends are the pending submissions at a value of a Semaphore, with FindCycles.
type ends struct {
	signalers []*submission
	waits     int // how many await the value
}

// announce tells the Semaphores of s that it is pending.
func (s *submission) announce() {
	for _, p := range s.signals {
		p.Semaphore.announce(p.Value, s)
	}
	for i := range s.waits {
		s.from[i].announce(s.waits[i].value, nil)
	}
}

// forget undoes announce.
func (s *submission) forget() {
	for _, p := range s.signals {
		p.Semaphore.forget(p.Value, s)
	}
	for i := range s.waits {
		s.from[i].forget(s.waits[i].value, nil)
	}
}

// announce adds the submission that will signal v, or for nil one that awaits v.
func (s *Semaphore) announce(v uint64, by *submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		s.pending = map[uint64]*ends{}
	}
	e := s.pending[v]
	if e == nil {
		e = &ends{}
		s.pending[v] = e
	}
	if by == nil {
		e.waits++
		return
	}
	e.signalers = append(e.signalers, by)
}

// forget undoes one announce.
func (s *Semaphore) forget(v uint64, by *submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.pending[v]
	if by == nil {
		e.waits--
	} else if i := slices.Index(e.signalers, by); i >= 0 {
		e.signalers = slices.Delete(e.signalers, i, i+1)
	}
	if e.waits == 0 && len(e.signalers) == 0 {
		delete(s.pending, v)
	}
}

// awaited reports whether a pending submission awaits a signal of s, as in every cycle. Without this check a chain
// that is submitted in its order would be searched up to its beginning for each submission.
func (s *submission) awaited() bool {
	return slices.ContainsFunc(s.signals, func(p Point) bool {
		p.Semaphore.mu.Lock()
		defer p.Semaphore.mu.Unlock()
		e := p.Semaphore.pending[p.Value]
		return e != nil && e.waits > 0
	})
}

// signalers returns the pending submissions that will signal v, none if v is decided.
func (s *Semaphore) signalers(v uint64) []*submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	if decided, _ := s.decided(v); decided {
		return nil
	}
	if e := s.pending[v]; e != nil {
		return slices.Clone(e.signalers)
	}
	return nil
}

// cycle returns a CycleError if s, which is announced, would wait for itself: a path from one of its
// waits, over the submission that signals this point, to what that one awaits, and so on to a signal
// of s. It may pass submissions of other Devices.
func (s *submission) cycle() error {
	if !s.awaited() {
		return nil
	}
	type edge struct {
		point Point
		from  int // index of the edge whose submission awaits point; -1 for s
	}
	var edges []edge
	seen := map[Point]bool{}
	visit := func(t *submission, from int) {
		for i := range t.waits {
			p := Point{t.from[i], t.waits[i].value}
			if !seen[p] {
				seen[p] = true
				edges = append(edges, edge{p, from})
			}
		}
	}
	visit(s, -1)
	for i := 0; i < len(edges); i++ { //nolint:intrange // visit adds edges
		for _, t := range edges[i].point.Semaphore.signalers(edges[i].point.Value) {
			if t != s {
				visit(t, i)
				continue
			}
			var points []Point
			for j := i; j >= 0; j = edges[j].from {
				points = append(points, edges[j].point)
			}
			return &CycleError{points}
		}
	}
	return nil
}
