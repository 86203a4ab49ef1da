package kernels

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// binary prepares the operators on two tensors of one type.
func binary(s *Step) (run.Runner, int) {
	w := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape)
	if s.Out[0].DType == mil.Int32 {
		return &intBinary{walk: w, op: intOps[s.Op]}, 0
	}
	if op, ok := halfOps[s.Op]; ok && s.halved() {
		if w.short() {
			return &shortBinary{halfBinary{walk: w, op: op}}, 0
		}
		return &halfBinary{walk: w, op: op}, 0
	}
	if r := s.powerTable(); r != nil {
		return r, 0
	}
	op := floatOps[s.Op]
	if op == nil { // these depend on the rounding of their results
		d, wide := s.Out[0].DType, wideOps[s.Op]
		op = func(dst, x, y []float32) {
			for i := range dst {
				dst[i] = narrow(d, wide(float64(x[i]), float64(y[i])))
			}
		}
	}
	return &floatBinary{walk: w, op: op}, 3 * run.Chunk
}

// powerTable returns the runner of pow with an exponent that is one constant half, or nil for another step.
func (s *Step) powerTable() run.Runner {
	e := s.In[1]
	if s.Op != "pow" || !s.halved() || !e.Constant || len(e.Data.Half) != 1 ||
		ops.Volume(s.Out[0].Shape) < tabled || ops.Volume(s.In[0].Shape) != ops.Volume(s.Out[0].Shape) {
		return nil
	}
	y := e.Data.Half[0]
	return &halfUnary{table: s.Arith.Tables.of(fmt.Sprint(s.key(), y)), f: func(x fp16.Bits) fp16.Bits {
		return fp16.FromFloat64(power(float64(x.Float32()), float64(y.Float32())))
	}}
}

// floatOps compute in float32. For fp16 operands and results the intermediate rounding to float32 changes nothing, to
// nearest even or half away from zero: 24 bits are at least 2*11+2.
var floatOps = map[string]func(dst, x, y []float32){
	"add": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	},
	"sub": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	},
	"mul": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	},
	"real_div": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	},
	"maximum": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = max(x[i], y[i])
		}
	},
	"minimum": func(dst, x, y []float32) {
		x, y = x[:len(dst)], y[:len(dst)]
		for i := range dst {
			dst[i] = min(x[i], y[i])
		}
	},
}

// wideOps compute in float64.
var wideOps = map[string]func(x, y float64) float64{"pow": power, "floor_div": floorDiv, "mod": floorMod}

// power is x to the y. Its NaN is one value: math.Pow takes the processor's square root for a y of 0.5, whose NaN of a
// negative number has a sign on amd64 and none on arm64, and a chip's numerics read that sign.
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

// intOps wrap around in two's complement. A division by zero gives 0.
var intOps = map[string]func(x, y int32) int32{
	"add":     func(x, y int32) int32 { return x + y },
	"sub":     func(x, y int32) int32 { return x - y },
	"mul":     func(x, y int32) int32 { return x * y },
	"maximum": func(x, y int32) int32 { return max(x, y) },
	"minimum": func(x, y int32) int32 { return min(x, y) },
	"real_div": func(x, y int32) int32 { // truncates
		if y == 0 {
			return 0
		}
		return x / y
	},
	"floor_div": func(x, y int32) int32 {
		if y == 0 {
			return 0
		}
		if q := x / y; x%y == 0 || x^y >= 0 { // of one sign
			return q
		}
		return x/y - 1
	},
	"mod": func(x, y int32) int32 {
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
func intPow(x, y int32) int32 {
	switch {
	case y >= 0:
	case x == -1:
		y &= 1
	case x != 1:
		return 0
	default:
		return 1
	}
	p := int32(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

type floatBinary struct {
	walk walk
	op   func(dst, x, y []float32)
}

func (r *floatBinary) Run(c *run.Call) { c.Spread(r.walk.total, r.Element()) }

func (*floatBinary) Element() int { return 1 }

func (r *floatBinary) Span(c *run.Call, lo, hi, worker int) {
	work := c.Work[worker]
	x := feed{room: work[:run.Chunk], v: &c.In[0], step: r.walk.xstep}
	y := feed{room: work[run.Chunk : 2*run.Chunk], v: &c.In[1], step: r.walk.ystep}
	d, out := work[2*run.Chunk:3*run.Chunk], &c.Out[0]
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		r.op(d[:n], x.next(xat, n), y.next(yat, n))
		out.Store(d[:n], lo)
		lo += n
	}
}

// feed returns decoded elements of an operand, run by run.
type feed struct {
	room []float32
	v    *run.Vec
	step int // 0 repeats one element
	held int // the element that room repeats, counted from 1; 0 for none
}

// next returns n elements, starting at element at.
func (f *feed) next(at, n int) []float32 {
	dst := f.room[:n]
	switch {
	case f.step != 0:
		f.v.Load(dst, at)
	case at+1 != f.held:
		// Runs of one element do not become longer: they are the rest of a row.
		f.v.Load(dst[:1], at)
		for i := range dst {
			dst[i] = dst[0]
		}
		f.held = at + 1
	}
	return dst
}

type intBinary struct {
	walk walk
	op   func(x, y int32) int32
}

func (r *intBinary) Run(c *run.Call) { c.Spread(r.walk.total, r.Element()) }

func (*intBinary) Element() int { return 1 }

func (r *intBinary) Span(c *run.Call, lo, hi, worker int) {
	x, y, out := c.In[0].Ints, c.In[1].Ints, c.Out[0].Ints
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		for i := range n {
			out[lo+i] = r.op(x[xat+i*r.walk.xstep], y[yat+i*r.walk.ystep])
		}
		lo += n
	}
}
