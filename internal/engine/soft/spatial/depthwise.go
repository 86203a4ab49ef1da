package spatial

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// depthwise is a convolution with one input channel in a group.
type depthwise struct {
	*plane
	planes, outputs int       // of x; of a group
	weights         []float32 // of all outputs, or nil
	bias            bool
}

// together is how many elements of the result at least are computed between two looks at the context, and between two
// computations of the joined steps.
const together = 1 << 13

// spare is the float32s of the room of kernels.
const spare = 34 * 8

// Depthwise returns the runner of a convolution over three axes, with one input channel and some outputs in a group,
// and the float32s of its workspace. weights are those of a constant, decoded, or nil.
func Depthwise(w ops.Window, planes, outputs int, weights []float32, bias bool) (run.Runner, int) {
	p := newPlane(w, floats, 0)
	if p == nil {
		return nil, 0
	}
	return &depthwise{p, planes, outputs, weights, bias}, p.words() + outputs*(len(p.offsets)+p.many) + p.many + spare
}

func (r *depthwise) Run(c *run.Call) {
	c.Spread(r.planes*r.strips, r.rows*r.win.Out[2]*r.outputs*len(r.offsets)/4)
}

// Completes tells that joined steps compute on pieces of the result.
func (r *depthwise) Completes() bool { return true }

// Stores tells that the kernel does what Call.Finish does.
func (r *depthwise) Stores() bool { return r.roll > 0 }

// Span computes strips lo to hi, counted through all planes.
func (r *depthwise) Span(c *run.Call, lo, hi, worker int) {
	w, taps := &r.win, len(r.offsets)
	r.clear(c, worker)
	_, _, _, last := r.strip(hi)
	from, to := 0, 0 // elements that joined steps have not computed
	room := c.Work[worker][r.words()+r.outputs*taps:]
	biases, more, room := room[:r.many*r.outputs], room[r.many*r.outputs:][:r.many], room[r.many*(r.outputs+1):]
	for i, n := lo, 0; i < hi; i += n {
		plane, line, rows, at := r.strip(i)
		weights, first := r.weights, plane%w.Groups*r.outputs
		n = 1
		if weights != nil {
			weights = weights[first*taps:]
			if r.outputs == 1 {
				n = max(min(r.together(i, hi), w.Groups-first), 1)
			}
		} else {
			weights = c.Work[worker][r.words():][:r.outputs*taps]
			c.In[1].Load(weights, first*taps)
		}
		for k := range biases[:n*r.outputs] {
			biases[k] = float32(math.Copysign(0, -1)) // a sum plus this is the sum
		}
		if r.bias {
			c.In[2].Load(biases[:n*r.outputs], first)
		}
		r.load(c, worker, plane, n, line, rows)
		for m := range r.outputs {
			s := sliding{weights: &weights[m*taps], bias: &biases[m], spare: &room[0]}
			if r.outputs > 1 {
				at = ((plane*r.outputs+m)*w.Out[1] + line) * w.Out[2]
			}
			if at != to || to-from >= together {
				c.Complete(from, to, worker)
				from = at
				if c.Pause(worker) {
					return
				}
			}
			each := rows * w.Out[2]
			to = at + n*each
			end := to
			if r.outputs == 1 {
				end = last // results are in order, so that later ones may be overwritten
			}
			s.least, s.most, s.finish = c.Finishes(more[:n], at, each, each)
			s.more = &more[0]
			out := c.Out[0].Half[at:to:end]
			if !s.finish || r.results(c, worker, n, s, nil, out) {
				s.finish = false
				r.results(c, worker, n, s, nil, out)
				c.Unfinished(at, to, worker)
			}
		}
	}
	c.Complete(from, to, worker)
}
