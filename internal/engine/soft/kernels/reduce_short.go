package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// shortMost is the length of lanes for which one call of package halves for each costs more than it saves.
const shortMost = 64

// shortReducer is reducer for short lanes that follow one another: it decodes many at a time.
type shortReducer struct{ reducer }

// newShortReducer returns nil for other lanes.
func newShortReducer(r *reducer) (run.Runner, int) {
	if l := &r.lanes; l.row > 1 || l.run != l.length || l.length > shortMost || ops.Volume(l.kept) != l.groups ||
		len(l.kept) > 1 {
		return nil, 0
	}
	return &shortReducer{*r}, 2 * run.Chunk
}

func (r *shortReducer) Run(c *run.Call) { c.Spread(r.lanes.groups, 2*r.lanes.length) }

func (r *shortReducer) Span(c *run.Call, lo, hi, worker int) {
	length := r.lanes.length
	work, out := c.Work[worker][:run.Chunk], c.Work[worker][run.Chunk:]
	for lo < hi && !c.Pause(worker) {
		n := min(run.Chunk/length, hi-lo)
		m := work[:n*length]
		c.In[0].Load(m, lo*length)
		for i := range out[:n] {
			acc := r.folding.way.addRun(r.folding.start, m[i*length:][:length])
			if r.folding.last != nil {
				acc = r.folding.last(acc, length)
			}
			out[i] = narrow(r.dtype, acc)
		}
		c.Out[0].Store(out[:n], lo)
		lo += n
	}
}
