package soft

import "github.com/anekit/anekit/internal/ops"

// shortMost is the length of lanes for which one call of package halves for each costs more than it saves.
const shortMost = 64

// shortReducer is reducer for short lanes that follow one another: it decodes many at a time.
type shortReducer struct{ reducer }

// newShortReducer returns nil for other lanes.
func newShortReducer(r *reducer) (runner, int) {
	if l := &r.lanes; l.row > 1 || l.run != l.length || l.length > shortMost || ops.Volume(l.kept) != l.groups ||
		len(l.kept) > 1 {
		return nil, 0
	}
	return &shortReducer{*r}, 2 * chunk
}

func (r *shortReducer) run(c *call) { c.spread(r.lanes.groups, 2*r.lanes.length) }

func (r *shortReducer) span(c *call, lo, hi, worker int) {
	length := r.lanes.length
	work, out := c.work[worker][:chunk], c.work[worker][chunk:]
	for lo < hi && !c.pause(worker) {
		n := min(chunk/length, hi-lo)
		m := work[:n*length]
		c.in[0].load(m, lo*length)
		for i := range out[:n] {
			acc := r.folding.way.addRun(r.folding.start, m[i*length:][:length])
			if r.folding.last != nil {
				acc = r.folding.last(acc, length)
			}
			out[i] = narrow(r.dtype, acc)
		}
		c.out[0].store(out[:n], lo)
		lo += n
	}
}
