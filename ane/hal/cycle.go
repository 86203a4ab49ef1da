package hal

import "slices"

// announce tells the Semaphores that s will signal that it is pending.
func (s *submission) announce() {
	for _, p := range s.signals {
		p.Semaphore.announce(p.Value, s)
	}
}

// forget takes back announce.
func (s *submission) forget() {
	for _, p := range s.signals {
		p.Semaphore.forget(p.Value, s)
	}
}

func (s *Semaphore) announce(v uint64, by *submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		s.pending = map[uint64][]*submission{}
	}
	s.pending[v] = append(s.pending[v], by)
}

// forget removes one announcement of by.
func (s *Semaphore) forget(v uint64, by *submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.pending[v]
	if i := slices.Index(all, by); i >= 0 {
		all[i] = all[len(all)-1]
		all[len(all)-1] = nil
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		delete(s.pending, v)
	} else {
		s.pending[v] = all
	}
}

// signalers returns the pending submissions that will signal v, none if v is decided.
func (s *Semaphore) signalers(v uint64) []*submission {
	s.mu.Lock()
	defer s.mu.Unlock()
	if decided, _ := s.decided(v); decided {
		return nil
	}
	return slices.Clone(s.pending[v])
}

// cycle returns a CycleError if s, which is announced, would wait for itself: a path from one of its
// waits, over the submission that signals this point, to what that one awaits, and so on to a signal
// of s. It may pass submissions of other Devices.
func (s *submission) cycle() error {
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
