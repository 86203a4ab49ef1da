package hal

import "slices"

// cycle returns a CycleError if s would wait for itself: a path from one of its waits, over the
// submission that signals this point, to what that one awaits, and so on to a signal of s. The caller
// holds the Device's mutex.
func (d *Device) cycle(s *submission) error {
	type edge struct {
		point Point
		from  int // index of the edge whose submission awaits point; -1 for s
	}
	var edges []edge
	seen := map[Point]bool{}
	visit := func(t *submission, from int) {
		for i := range t.waits {
			p := Point{t.from[i], t.waits[i].value}
			if decided, _ := p.Semaphore.state(p.Value); !decided && !seen[p] {
				seen[p] = true
				edges = append(edges, edge{p, from})
			}
		}
	}
	visit(s, -1)
	for i := 0; i < len(edges); i++ { //nolint:intrange // visit adds edges
		if slices.Contains(s.signals, edges[i].point) {
			var points []Point
			for j := i; j >= 0; j = edges[j].from {
				points = append(points, edges[j].point)
			}
			return &CycleError{points}
		}
		for _, t := range d.signals[edges[i].point] {
			visit(t, i)
		}
	}
	return nil
}
