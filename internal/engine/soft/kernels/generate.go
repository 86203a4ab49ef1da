package kernels

import (
	"hash/fnv"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// known stands for operators whose results the rule computes: no step runs them.
func known(*Step) (run.Runner, int) { return &run.Sequence{}, 0 }

func constantFill(s *Step) (run.Runner, int) { return s.fill(s.Attrs.(ops.Fill).Element), 0 }

// fill repeats element e.
func (s *Step) fill(e []byte) run.Runner {
	return newEach(s.Out[0].len(), 1, 1<<16, func(c *run.Call, lo, hi, _ int) {
		dst := c.Out[0].Raw[lo*len(e) : hi*len(e)]
		for n := copy(dst, e); n > 0 && n < len(dst); {
			n += copy(dst[n:], dst[:n])
		}
	})
}

// rangeOf counts. Each element is rounded once.
func rangeOf(s *Step) (run.Runner, int) {
	a, d := s.Attrs.(ops.Range), s.Out[0].DType
	return newEach(s.Out[0].len(), 1, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		if d == mil.Int32 {
			for i := lo; i < hi; i++ {
				c.Out[0].Ints[i] = int32(int64(a.Start) + int64(i)*int64(a.Step))
			}
			return
		}
		x := c.Work[worker][:hi-lo]
		for i := range x {
			x[i] = narrow(d, a.Start+float64(float64(lo+i)*a.Step))
		}
		c.Out[0].Store(x, lo)
	}), run.Chunk
}

// band keeps diagonals of matrices and clears the others.
func band(s *Step) (run.Runner, int) {
	a, shape, size := s.Attrs.(ops.Band), s.In[0].Shape, element.Size(s.In[0].DType)
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	return newLoop(s.Out[0].len()/columns, columns, 1, func(c *run.Call, i, _, _ int) {
		row, from, to := i%rows, 0, columns
		if a.Lower >= 0 {
			from = min(max(row-a.Lower, 0), to)
		}
		if a.Upper >= 0 && a.Upper < columns {
			to = max(min(row+a.Upper+1, to), from)
		}
		src, dst := c.In[0].Raw[i*columns*size:], c.Out[0].Raw[i*columns*size:]
		clear(dst[:from*size])
		copy(dst[from*size:to*size], src[from*size:])
		clear(dst[to*size : columns*size])
	}), 0
}

// oneHot writes On where an index tells, and Off elsewhere. An index outside of the new axis, a negative one too, has
// Off everywhere.
func oneHot(s *Step) (run.Runner, int) {
	a, shape := s.Attrs.(ops.OneHot), s.Out[0].Shape
	n, depth, inner := len(a.On), shape[a.Axis], ops.Volume(shape[a.Axis+1:])
	return &run.Sequence{s.fill(a.Off), newLoop(s.In[0].len(), 1, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			if k := integer(&c.In[0], i); k >= 0 && k < depth {
				copy(c.Out[0].Raw[((i/inner*depth+k)*inner+i%inner)*n:], a.On)
			}
		}
	})}, 0
}

// cumsum adds up the elements along an axis. The sums of floats are float64, and each is rounded once; int32 wraps
// around.
func cumsum(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Scan)
	l := newLanes(s.In[0].Shape, []int{a.Axis})
	if s.In[0].DType == mil.Int32 {
		return l.loop(1, func(c *run.Call, g, _, _ int) {
			base, width, _ := l.group(g)
			for t := range width {
				sum := int32(0)
				for j := range l.length {
					if a.Reverse {
						j = l.length - 1 - j
					}
					mem, _ := l.at(base+t, j)
					before := sum
					if sum += c.In[0].Ints[mem]; !a.Exclusive {
						before = sum
					}
					c.Out[0].Ints[mem] = before
				}
			}
		}), 0
	}
	return l.loop(1, func(c *run.Call, g, _, worker int) { scan(c, l, a, g, worker) }), l.part() * l.tile
}

// scan adds up the lanes of group g, some elements at a time.
func scan(c *run.Call, l *lanes, a ops.Scan, g, worker int) {
	base, width, _ := l.group(g)
	var sums [maxTile]float64
	for t := range sums {
		sums[t] = math.Copysign(0, -1) // -0 + x is x, also for -0
	}
	for done := 0; done < l.length && !c.Pause(worker); done += l.part() {
		from, to := done, min(done+l.part(), l.length)
		if a.Reverse {
			from, to = l.length-to, l.length-from
		}
		m := c.Work[worker][:(to-from)*width]
		l.load(&c.In[0], m, base, width, from, to)
		for i := range to - from {
			k := i
			if a.Reverse {
				k = to - from - 1 - i
			}
			for t, x := range m[k*width:][:width] {
				before := sums[t]
				switch sums[t] += float64(x); {
				case !a.Exclusive:
					before = sums[t]
				case done == 0 && i == 0:
					before = 0 // the sum of no elements
				}
				m[k*width+t] = narrow(c.Out[0].DType, before)
			}
		}
		l.store(&c.Out[0], m, base, width, from, to)
	}
}

// Random numbers come from SplitMix64: word k of a seed s is scramble(s + (k+1)*gamma). Element i of a result uses
// words 2i and 2i+1. A program's seed of -1 stands for one made of the name of the result and the number of evaluations
// since the load. So each evaluation has other numbers, and a new load repeats them.
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
	weigh := func(k int) float64 { return c.In[0].Value(base + k) }
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
