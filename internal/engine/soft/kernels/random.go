package kernels

import (
	"hash/fnv"
	"math"

	"github.com/anekit/anekit/ane/mil"
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
	a, d, op := s.Attrs.(ops.Random), s.Out[0].DType, s.Op
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Name))
	name, classes, count := h.Sum64(), 0, 1 // of random_categorical: the last axis of x, and of the result
	if op == "random_categorical" {
		classes, count = s.In[0].Shape[len(s.In[0].Shape)-1], s.Out[0].Shape[len(s.Out[0].Shape)-1]
	}
	return newEach(s.Out[0].len(), 16+4*classes, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		seed := uint64(a.Seed)
		if a.Seed < 0 {
			seed = scramble(name + c.Round*gamma)
		}
		x := c.Work[worker][:hi-lo]
		for k := range x {
			i := lo + k
			switch u := unit(seed, 2*i); op {
			case "random_uniform":
				x[k] = uniform(d, a.A, a.B, u)
			case "random_normal":
				radius := math.Sqrt(-2 * math.Log(1-u)) // Box and Muller
				x[k] = narrow(d, a.A+float64(a.B*radius*math.Cos(2*math.Pi*unit(seed, 2*i+1))))
			case "random_bernoulli":
				x[k] = float32(truth(u < a.A))
			default:
				x[k] = float32(drawn(c, i/count*classes, classes, a.Probs, u))
			}
		}
		c.Out[0].Store(x, lo)
	}), run.Chunk
}

// uniform returns a number from a up to, not including, b.
func uniform(d mil.DType, a, b, u float64) float32 {
	v := narrow(d, a+float64(u*(b-a)))
	var e [4]byte
	if element.Store(d, e[:], float64(v)); element.Load(d, e[:]) >= b && b > a {
		return float32(a) // rounding reached the end, which does not belong to the range
	}
	return v
}

// drawn chooses a class of the distribution that begins at element base of x: of probabilities or of their logarithms.
func drawn(c *run.Call, base, classes int, probs bool, u float64) int {
	var one [1]float32
	weigh := func(k int) float64 { c.In[0].Load(one[:], base+k); return float64(one[0]) }
	top := math.Inf(-1)
	for k := range classes {
		top = max(top, weigh(k))
	}
	share := func(k int) float64 {
		if probs {
			return max(weigh(k), 0)
		}
		return math.Exp(weigh(k) - top)
	}
	sum := 0.0
	for k := range classes {
		sum += share(k)
	}
	last, rest := 0, u*sum
	for k := range classes {
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
