package kernels

import (
	"fmt"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// halved reports whether a step reads and writes halves by the rules of the reference. Runners for such steps compute
// on halves in one pass; their results are those of the runners through float32.
func (s *Step) halved() bool {
	return s.Arith.Operand == 0 && s.Arith.Result == 0 && s.In[0].DType == mil.FP16 && s.Out[0].DType == mil.FP16
}

// halfStretch is how many halves a runner takes between two looks at the context.
const halfStretch = 16 * run.Chunk

// inOnePass are the operators that package halves has.
var inOnePass = map[string]halves.Op{
	"add": halves.Add, "sub": halves.Sub, "mul": halves.Mul, "real_div": halves.Div, "maximum": halves.Max,
	"minimum": halves.Min,
}

// binary prepares the operators on two tensors of one type.
func binary(s *Step) (run.Runner, int) {
	w := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape)
	if s.Out[0].DType == mil.Int32 {
		op := intOps[s.Op]
		return newPairs(w, 1, run.Chunk, func(c *run.Call, at int, from triple, n int) {
			x, y, out := c.In[0].Ints[from.x:], c.In[1].Ints[from.y:], c.Out[0].Ints[at:]
			for i := range n {
				out[i] = int32(op(int(x[i*w.step.x]), int(y[i*w.step.y])))
			}
		}), 0
	}
	op, ok := inOnePass[s.Op]
	switch {
	case ok && s.halved():
		r, work := halfBinary(w, op, 0, 1), 0
		if w.short() {
			r, work = shortBinary(w, op)
		}
		if y, last := w.by[1], len(w.dims)-1; op == halves.Add && w.step.y == 0 && dense(w.dims, w.by[0]) {
			switch r.finish = (&run.Finish{Each: w.dims[last], Count: 1}); {
			case last > 0 && y[last-1] == 1 && last < 3 && y[0] == 2-last:
				r.finish.Count = w.dims[last-1]
			case last > 0:
				r.finish = nil
			}
		}
		return r, work
	case ok && s.In[0].DType == mil.FP16 && s.chip().Has(numerics.Exponent31):
		return halfBinary(w, op, s.Arith.Operand, 2), 0
	}
	if r := s.powerTable(); r != nil {
		return r, 0
	}
	f := func(dst, x, y []float32) { halves.Compute(op, dst, x, y) }
	if wide := wideOps[s.Op]; wide != nil { // these depend on the rounding of their results
		d := s.Out[0].DType
		f = func(dst, x, y []float32) {
			for i := range dst {
				dst[i] = narrow(d, wide(float64(x[i]), float64(y[i])))
			}
		}
	}
	return floatBinary(w, f)
}

func floatBinary(w walk, op func(dst, x, y []float32)) (run.Runner, int) {
	return newFloats(w, 1, func(c *run.Call, at int, dst, x, y, z []float32) {
		op(dst, x, y)
		c.Out[0].Store(dst, at)
	})
}

// shortBinary is halfBinary for operands of which one is repeated in short rows: it computes many rows at a time.
func shortBinary(w walk, op halves.Op) (*each, int) {
	return newEach(w.total, 1, w.total, func(c *run.Call, lo, hi, worker int) {
		room := c.Rooms[worker].Half
		x := feed[fp16.Bits]{dims: w.dims, by: w.by[0], stored: c.In[0].Half, room: room[:run.Chunk]}
		y := feed[fp16.Bits]{dims: w.dims, by: w.by[1], stored: c.In[1].Half, room: room[run.Chunk:]}
		w.pieces(c, lo, hi, worker, func(lo, n int) {
			halves.Binary(op, c.Out[0].Half[lo:lo+n], x.next(lo, n), y.next(lo, n), 0)
		})
	}), run.Chunk
}

// halfBinary computes on halves in one pass. Its results are those of floatBinary.
func halfBinary(w walk, op halves.Op, r numerics.Rules, weight int) *each {
	return newPairs(w, weight, halfStretch, func(c *run.Call, at int, from triple, n int) {
		halves.Binary(op, c.Out[0].Half[at:at+n], strip(c, 0, from.x, w.step.x, n), strip(c, 1, from.y, w.step.y, n), r)
	})
}

// strip returns n elements of operand k from element at on, or the one that it repeats.
func strip(c *run.Call, k, at, step, n int) []fp16.Bits { return c.In[k].Half[at:][:(n-1)*step+1] }

// powerTable returns the runner of pow with an exponent that is one constant half, or nil for another step.
func (s *Step) powerTable() run.Runner {
	e := s.In[1]
	if s.Op != "pow" || !s.halved() || !e.Constant || len(e.Data.Half) != 1 || s.Out[0].len() < halves.Tabled ||
		s.In[0].len() != s.Out[0].len() {
		return nil
	}
	y := e.Data.Half[0]
	return s.lookUp(fmt.Sprint(s.key(), y), func(x fp16.Bits) fp16.Bits {
		return fp16.FromFloat64(power(float64(x.Float32()), float64(y.Float32())))
	})
}

// wideOps compute in float64.
var wideOps = map[string]func(x, y float64) float64{"pow": power, "floor_div": floorDiv, "mod": floorMod}

// power is x to the y. Its NaN is one value, because a chip's numerics read the sign. math.Pow takes the processor's
// square root for a y of 0.5, whose NaN of a negative number has a sign on amd64 and none on arm64.
func power(x, y float64) float64 {
	if p := math.Pow(x, y); !math.IsNaN(p) {
		return p
	}
	return math.NaN()
}

// floorDiv rounds x / y down. Where the quotient of two float32 rounds up to a whole number, that number and the one
// below round to the same float32.
func floorDiv(x, y float64) float64 { return math.Floor(x / y) }

// floorMod is x - y * floorDiv(x, y), computed exactly. It has the sign of y.
func floorMod(x, y float64) float64 {
	m := math.Mod(x, y)
	if m == 0 {
		return math.Copysign(0, y)
	}
	if math.Signbit(m) != math.Signbit(y) {
		m += y
	}
	return m
}

// intOps are exact in the low bits of integers, which wrap around. A division by zero gives 0.
var intOps = map[string]func(x, y int) int{
	"add":     func(x, y int) int { return x + y },
	"sub":     func(x, y int) int { return x - y },
	"mul":     func(x, y int) int { return x * y },
	"maximum": func(x, y int) int { return max(x, y) },
	"minimum": func(x, y int) int { return min(x, y) },
	"real_div": func(x, y int) int { // truncates
		if y == 0 {
			return 0
		}
		return x / y
	},
	"floor_div": func(x, y int) int {
		if y == 0 {
			return 0
		}
		if q := x / y; x%y == 0 || x^y >= 0 { // of one sign
			return q
		}
		return x/y - 1
	},
	"mod": func(x, y int) int {
		if y == 0 {
			return 0
		}
		if m := x % y; m == 0 || m^y >= 0 { // of one sign
			return m
		}
		return x%y + y
	},
	"pow": intPow,
}

// intPow truncates the powers with a negative exponent.
func intPow(x, y int) int {
	switch {
	case y >= 0:
	case x == -1:
		y &= 1
	case x != 1:
		return 0
	}
	p := 1
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

// channels plans the walk of x and of vectors with one element for each channel, axis 1 of x.
func channels(s *Step) walk {
	shape := s.Out[0].Shape
	vectors := slices.Repeat([][]int{spreadAlong(shape, shape[1:2], 1)}, len(s.In)-1)
	return broadcast(shape, slices.Insert(vectors, 0, s.In[0].Shape)...)
}

// prelu multiplies negative elements by the number of their channel. As in halves.Compute, float32 is exact enough.
func prelu(s *Step) (run.Runner, int) {
	return floatBinary(channels(s), func(dst, x, alpha []float32) {
		for i := range dst {
			if dst[i] = x[i]; x[i] < 0 {
				dst[i] = alpha[i] * x[i]
			}
		}
	})
}

// softplusParametric is alpha * softplus(beta * x), with two numbers for each channel.
func softplusParametric(s *Step) (run.Runner, int) {
	d := s.Out[0].DType
	return newFloats(channels(s), 8, func(c *run.Call, at int, dst, x, y, z []float32) {
		for i, v := range x {
			dst[i] = narrow(d, float64(y[i])*softplus(float64(z[i])*float64(v)))
		}
		c.Out[0].Store(dst, at)
	})
}
