package hal

import "slices"

// cycle returns a CycleError if s, whose waits are registered, waits for itself. A path then leads from a signal of s
// to a submission that awaits this very value, to a signal of that one, and so on to a wait of s. It may pass
// submissions of other Devices. Of two calls that close a cycle at once, one at least finds it: each registers first.
func (s *submission) cycle() error {
	type edge struct {
		point Point
		from  int // index of the edge whose awaiting submission signals point; -1 for s
	}
	var edges []edge
	seen := map[Point]bool{}
	visit := func(t *submission, from int) {
		for _, p := range t.signals {
			if !seen[p] {
				seen[p] = true
				edges = append(edges, edge{p, from})
			}
		}
	}
	visit(s, -1)
	for i := 0; i < len(edges); i++ { //nolint:intrange // visit adds edges
		for _, t := range edges[i].point.Semaphore.awaiting(edges[i].point.Value) {
			if t != s {
				visit(t, i)
				continue
			}
			var points []Point
			for j := i; j >= 0; j = edges[j].from {
				points = append(points, edges[j].point)
			}
			slices.Reverse(points)
			return &CycleError{points}
		}
	}
	return nil
}

// awaiting returns the submissions that await the value v. It does not search the lower values of a chain that is
// submitted in its order.
func (s *Semaphore) awaiting(v uint64) (all []*submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v > s.most {
		return nil
	}
	s.waiters.each(0, v, func(w *waiter) {
		if t, ok := w.to.(*submission); ok {
			all = append(all, t)
		}
	})
	return all
}
