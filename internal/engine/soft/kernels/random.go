package kernels

import (
	"hash/fnv"
	"math"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Random numbers come from SplitMix64: word k of a seed s is scramble(s + (k+1)*gamma). Element i of a result uses
// words 2i and 2i+1. A program's seed of -1 stands for one made of the name of the result and the number of evaluations
// since the load, so that each evaluation has other numbers and a new load repeats them.
const gamma = 0x9E3779B97F4A7C15

func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// unit returns word k of a seed as a number from 0 up to, not including, 1.
func unit(seed uint64, k int) float64 {
	return float64(scramble(seed+uint64(k+1)*gamma)>>11) / (1 << 53)
}

func random(s *Step) (run.Runner, int) {
	r := &drawer{Random: s.Attrs.(ops.Random), op: s.Op}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Name))
	r.name = h.Sum64()
	if s.Op == "random_categorical" {
		r.classes, r.count = s.In[0].Shape[len(s.In[0].Shape)-1], s.Out[0].Shape[len(s.Out[0].Shape)-1]
	}
	return r, run.Chunk
}

type drawer struct {
	ops.Random
	op             string
	name           uint64
	classes, count int // of random_categorical: the last axis of x, and of the result
}

func (r *drawer) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 16+4*r.classes) }

func (r *drawer) Span(c *run.Call, lo, hi, worker int) {
	seed := uint64(r.Seed)
	if r.Seed < 0 {
		seed = scramble(r.name + c.Round*gamma)
	}
	out := &c.Out[0]
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		d := c.Work[worker][:min(run.Chunk, hi-lo)]
		for k := range d {
			d[k] = r.draw(c, seed, lo+k)
		}
		out.Store(d, lo)
	}
}

// draw returns element i.
func (r *drawer) draw(c *run.Call, seed uint64, i int) float32 {
	u, d := unit(seed, 2*i), c.Out[0].DType
	switch r.op {
	case "random_uniform":
		v := narrow(d, r.A+float64(u*(r.B-r.A)))
		var e [4]byte
		if element.Store(d, e[:], float64(v)); element.Load(d, e[:]) >= r.B && r.B > r.A {
			return float32(r.A) // rounding reached the end, which does not belong to the range
		}
		return v
	case "random_normal":
		radius := math.Sqrt(-2 * math.Log(1-u)) // Box and Muller
		return narrow(d, r.A+float64(r.B*radius*math.Cos(2*math.Pi*unit(seed, 2*i+1))))
	case "random_bernoulli":
		if u < r.A {
			return 1
		}
		return 0
	}
	return float32(r.class(c, i/r.count*r.classes, u))
}

// class chooses a class of the distribution that begins at element base of x.
func (r *drawer) class(c *run.Call, base int, u float64) int {
	var one [1]float32
	weigh := func(k int) float64 { c.In[0].Load(one[:], base+k); return float64(one[0]) }
	top := math.Inf(-1)
	for k := range r.classes {
		top = max(top, weigh(k))
	}
	share := func(k int) float64 {
		if r.Probs {
			return max(weigh(k), 0)
		}
		return math.Exp(weigh(k) - top)
	}
	sum := 0.0
	for k := range r.classes {
		sum += share(k)
	}
	last, rest := 0, u*sum
	for k := range r.classes {
		p := share(k)
		if p > 0 {
			if last = k; rest < p {
				return k
			}
		}
		rest -= p
	}
	return last
}
