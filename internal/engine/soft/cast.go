package soft

import (
	"math"

	"github.com/anekit/anekit/internal/element"
)

// cast converts elements: between floats exactly or with one rounding, to
// integers toward zero with clamping, to bool as x != 0.
func cast(s *step) (runner, int) { return &caster{}, chunk }

type caster struct{}

func (r *caster) run(c *call) { c.spread(c.out[0].len(), r.element()) }

func (*caster) element() int { return 2 }

func (r *caster) span(c *call, lo, hi, worker int) {
	in, out := &c.in[0], &c.out[0]
	if in.dtype == out.dtype {
		n := element.Size(in.dtype)
		copy(out.raw[lo*n:hi*n], in.raw[lo*n:])
		return
	}
	floats := (in.half != nil || in.single != nil) && (out.half != nil || out.single != nil)
	from, to := element.Size(in.dtype), element.Size(out.dtype)
	for ; lo < hi && !c.pause(worker); lo += chunk {
		n := min(chunk, hi-lo)
		if floats {
			x := c.work[worker][:n]
			in.load(x, lo)
			out.store(x, lo)
			continue
		}
		switch x := c.work[worker][:n]; {
		case in.ints != nil && (out.half != nil || out.single != nil) && out.rules == 0:
			for i, v := range in.ints[lo : lo+n] {
				x[i] = narrow(out.dtype, float64(v))
			}
			out.store(x, lo)
			continue
		case (in.half != nil || in.single != nil) && in.rules == 0 && out.ints != nil:
			in.load(x, lo)
			for i, v := range x {
				out.ints[lo+i] = truncated(v)
			}
			continue
		}
		for i := lo; i < lo+n; i++ {
			element.Store(out.dtype, out.raw[i*to:], element.Load(in.dtype, in.raw[i*from:]))
		}
	}
}

// truncated is v toward zero, the nearest int32 if it is none, and 0 for NaN.
func truncated(v float32) int32 {
	switch {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v >= math.MinInt32:
		return int32(v)
	case v != v:
		return 0
	}
	return math.MinInt32
}
