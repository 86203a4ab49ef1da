package spatial

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// Lanes are lanes of rows, in memory one after another.
type Lanes struct {
	Count, Length int
	Width, Pitch  int // elements of a row, and from one row to the next
}

// Fold computes a number from the sum of a lane: Result does, or it is the quotient by Divisor unless that is 0.
type Fold struct {
	Divisor float64
	Result  func(sum float64, n int) float64
}

// sums folds lanes by their sums, which are exact. other computes the lanes whose sum is NaN: its bits depend on the
// order of the additions.
type sums struct {
	Lanes
	Fold
	other run.Runner
	rows  int           // of a lane
	keep  [eight]uint16 // the bits of the last elements of a row that count
}

const (
	eight     = 8
	someLanes = 128
	mostLane  = 1 << 12
)

// Sums returns the runner of a fold, and the float32s of its workspace, or nil. The items of other, which takes some
// workspace, are the lanes. It reads operand 0, which is dense. If rows have gaps, the lanes are in operand 1, and Sums
// copies those that other reads.
func Sums(l Lanes, f Fold, other run.Runner, room int) (run.Runner, int) {
	if !quick() || l.Length > mostLane || l.Pitch > mostLane || l.Length%l.Width != 0 {
		return nil, 0
	}
	r := &sums{Lanes: l, Fold: f, other: other, rows: l.Length / l.Width}
	for i := range (l.Width-1)%eight + 1 {
		r.keep[i] = 0xffff
	}
	return r, max(someLanes+(r.rows*l.Pitch+eight)/2+1, room)
}

func (r *sums) Run(c *run.Call) { c.Spread(r.Count, r.Length/4+8) }

// Span computes lanes lo to hi.
func (r *sums) Span(c *run.Call, lo, hi, worker int) {
	var all [someLanes]float64
	var made [someLanes]uint16
	x, lane, eights, gaps := c.In[0].Pairs, r.rows*r.Pitch, (r.Width-1)/eight, r.Pitch > r.Width
	if gaps {
		x = c.In[1].Pairs
	}
	read := lane - r.Pitch + eight*(eights+1) // elements that sumLanes reads of a lane
	for ; lo < hi && !c.Pause(worker); lo += someLanes {
		n := min(someLanes, hi-lo)
		whole := min(max((len(x)-read+lane)/lane-lo, 0), n) // lanes after which x has enough
		if whole > 0 {
			sumLanes(&all[0], &x[lo*lane], &r.keep, whole, r.rows, 2*r.Pitch, eights)
		}
		for i := whole; i < n; i++ {
			spare := c.Rooms[worker].Pairs[2*someLanes:][:lane+eight]
			copy(spare, x[(lo+i)*lane:])
			sumLanes(&all[i], &spare[0], &r.keep, 1, r.rows, 2*r.Pitch, eights)
		}
		if r.Divisor != 0 {
			quotients(&made[0], &all[0], r.Divisor, (n+eight-1)/eight)
			copy(c.Out[0].Pairs[lo:], made[:n])
		} else {
			out := c.Work[worker][:n]
			for i := range out {
				out[i] = halves.ToOdd(r.Result(all[i], r.Length))
			}
			c.Out[0].Store(out, lo)
		}
		for i, sum := range all[:n] {
			if sum == sum {
				continue
			}
			if at := r.Length * (lo + i); gaps {
				halves.CopyRows(c.In[0].Raw[2*at:], c.In[1].Raw[2*lane*(lo+i):], r.rows, 2*r.Width, 2*r.Width, 2*r.Pitch)
			}
			r.other.Span(c, lo+i, lo+i+1, worker)
		}
	}
}
