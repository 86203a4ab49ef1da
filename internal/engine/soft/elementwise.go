package soft

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// chunk is how many elements a kernel decodes, computes and rounds at a time:
// three chunks of float32 stay within a first-level cache.
const chunk = 1024

// binary prepares the operators on two tensors of one type.
func binary(s *step) (runner, int) {
	w := broadcast(s.out[0].shape, s.in[0].shape, s.in[1].shape)
	if s.out[0].dtype == mil.Int32 {
		return &intBinary{walk: w, op: intOps[s.op]}, 0
	}
	if op, ok := halfOps[s.op]; ok && s.halved() {
		if w.short() {
			return &shortBinary{halfBinary{walk: w, op: op}}, 0
		}
		return &halfBinary{walk: w, op: op}, 0
	}
	if r := s.powerTable(); r != nil {
		return r, 0
	}
	op := floatOps[s.op]
	if op == nil { // these depend on the rounding of their results
		d, wide := s.out[0].dtype, wideOps[s.op]
		op = func(dst, x, y []float32) {
			for i := range dst {
				dst[i] = narrow(d, wide(float64(x[i]), float64(y[i])))
			}
		}
	}
	return &floatBinary{walk: w, op: op}, 3 * chunk
}

// powerTable returns the runner of pow with an exponent that is one constant half, or nil for another step.
func (s *step) powerTable() runner {
	e := &s.in[1]
	if s.op != "pow" || !s.halved() || e.where != constant || len(e.data.half) != 1 ||
		ops.Volume(s.out[0].shape) < tabled || ops.Volume(s.in[0].shape) != ops.Volume(s.out[0].shape) {
		return nil
	}
	y := e.data.half[0]
	return &halfUnary{table: s.arith.tables.of(fmt.Sprint(s.key(), y)), f: func(x fp16.Bits) fp16.Bits {
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

func (r *floatBinary) run(c *call) { c.spread(r.walk.total, r.element()) }

func (*floatBinary) element() int { return 1 }

func (r *floatBinary) span(c *call, lo, hi, worker int) {
	work := c.work[worker]
	x := feed{room: work[:chunk], v: &c.in[0], step: r.walk.xstep}
	y := feed{room: work[chunk : 2*chunk], v: &c.in[1], step: r.walk.ystep}
	d, out := work[2*chunk:3*chunk], &c.out[0]
	for lo < hi && !c.pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		r.op(d[:n], x.next(xat, n), y.next(yat, n))
		out.store(d[:n], lo)
		lo += n
	}
}

// feed returns decoded elements of an operand, run by run.
type feed struct {
	room []float32
	v    *vec
	step int // 0 repeats one element
	held int // the element that room repeats, counted from 1; 0 for none
}

// next returns n elements, starting at element at.
func (f *feed) next(at, n int) []float32 {
	dst := f.room[:n]
	switch {
	case f.step != 0:
		f.v.load(dst, at)
	case at+1 != f.held:
		// Runs of one element do not become longer: they are the rest of a row.
		f.v.load(dst[:1], at)
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

func (r *intBinary) run(c *call) { c.spread(r.walk.total, r.element()) }

func (*intBinary) element() int { return 1 }

func (r *intBinary) span(c *call, lo, hi, worker int) {
	x, y, out := c.in[0].ints, c.in[1].ints, c.out[0].ints
	for lo < hi && !c.pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		for i := range n {
			out[lo+i] = r.op(x[xat+i*r.walk.xstep], y[yat+i*r.walk.ystep])
		}
		lo += n
	}
}
