package soft

import "github.com/anekit/anekit/ane/mil/element"

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
	for ; lo < hi && !c.stopped(); lo += chunk {
		n := min(chunk, hi-lo)
		if floats {
			x := c.work[worker][:n]
			in.load(x, lo)
			out.store(x, lo)
			continue
		}
		for i := lo; i < lo+n; i++ {
			element.Store(out.dtype, out.raw[i*to:], element.Load(in.dtype, in.raw[i*from:]))
		}
	}
}
