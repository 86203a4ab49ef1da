package spatial

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// sums makes a number of the sum of each of lanes that follow one another. The sums are exact. other computes the lanes
// whose sum is NaN: its bits depend on the order of the additions.
type sums struct {
	lanes, length int
	result        func(sum float64, n int) float64
	other         run.Runner
	keep          [eight]uint16 // the bits of the last elements of a lane that count
}

const (
	eight     = 8
	someLanes = 128
	mostLane  = 1 << 12
)

// Sums returns the runner of a reduction of lanes of some length that follow one another, and the float32s of its
// workspace. It computes result from the sum of each. The items of other, which takes some workspace, are the lanes.
func Sums(lanes, length int, result func(sum float64, n int) float64, other run.Runner, room int) (run.Runner, int) {
	if !quick() || length > mostLane {
		return nil, 0
	}
	r := &sums{lanes: lanes, length: length, result: result, other: other}
	for i := range (length-1)%eight + 1 {
		r.keep[i] = 0xffff
	}
	return r, max(someLanes+(length+eight)/2+1, room)
}

func (r *sums) Run(c *run.Call) { c.Spread(r.lanes, r.length/4+8) }

// Span computes lanes lo to hi.
func (r *sums) Span(c *run.Call, lo, hi, worker int) {
	var all [someLanes]float64
	x, eights := c.In[0].Pairs, (r.length-1)/eight
	for ; lo < hi && !c.Pause(worker); lo += someLanes {
		n := min(someLanes, hi-lo)
		whole := min(max((len(x)-eight*(eights+1))/r.length+1-lo, 0), n) // lanes after which x has enough
		if whole > 0 {
			sumLanes(&all[0], &x[lo*r.length], &r.keep, whole, 2*r.length, eights)
		}
		for i := whole; i < n; i++ {
			spare := c.Rooms[worker].Pairs[2*someLanes:][:r.length+eight]
			copy(spare, x[(lo+i)*r.length:])
			sumLanes(&all[i], &spare[0], &r.keep, 1, 2*r.length, eights)
		}
		out := c.Work[worker][:n]
		for i := range out {
			out[i] = halves.ToOdd(r.result(all[i], r.length))
		}
		c.Out[0].Store(out, lo)
		for i, sum := range all[:n] {
			if sum != sum {
				r.other.Span(c, lo+i, lo+i+1, worker)
			}
		}
	}
}
