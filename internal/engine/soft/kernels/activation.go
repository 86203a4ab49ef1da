package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// unary prepares the operators on each element of one tensor.
func unary(s *Step) (run.Runner, int) {
	u, _ := s.Attrs.(ops.Unary)
	d := s.Out[0].DType
	if d == mil.Int32 {
		return &intUnary{op: intMap(s.Op, u)}, 0
	}
	if s.halved() {
		if r := s.clamp(u); r != nil {
			return r, 0
		}
	}
	f := mathMap(s.Op, u)
	switch s.Op {
	case "abs":
		return &floatUnary{cost: 1, op: func(x []float32) {
			for i, v := range x {
				x[i] = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
			}
		}}, run.Chunk
	case "relu":
		return &floatUnary{cost: 1, op: func(x []float32) {
			for i, v := range x {
				x[i] = max(v, 0)
			}
		}}, run.Chunk
	case "sqrt": // as exact in float32: 24 bits are at least 2*11+2
		f = math.Sqrt
		if d == mil.FP16 && (s.Arith.Operand.Defines(s.Op) || ops.Volume(s.Out[0].Shape) >= tabled) {
			break
		}
		return &floatUnary{cost: 2, op: func(x []float32) {
			for i, v := range x {
				x[i] = float32(math.Sqrt(float64(v)))
			}
		}}, run.Chunk
	case "rsqrt":
		f = func(x float64) float64 { return 1 / math.Sqrt(x+u.Epsilon) }
	case "gelu":
		f = gelu[u.Mode]
	}
	if d == mil.FP16 {
		return s.halves(f, u.Epsilon), 0
	}
	return &floatUnary{cost: mathCost, op: func(x []float32) {
		for i, v := range x {
			x[i] = float32(f(float64(v)))
		}
	}}, run.Chunk
}

// halves makes the runner of f on halves: the chip's own form of the operator if it has one, else f, rounded
// once.
func (s *Step) halves(f func(x float64) float64, epsilon float64) run.Runner {
	r := s.Arith.Operand
	u := &halfUnary{f: func(h fp16.Bits) fp16.Bits { return r.Round(f(float64(r.Value(h)))) }}
	if op := s.Op; r.Defines(op) {
		u.f = func(h fp16.Bits) fp16.Bits {
			y, _ := r.Unary(op, h, epsilon)
			return y
		}
	}
	if ops.Volume(s.Out[0].Shape) >= tabled {
		u.table = s.Arith.Tables.of(s.key())
	}
	return u
}

// mathMaps compute in float64; the kernel rounds their results once.
var mathMaps = map[string]func(x float64) float64{
	"exp":     math.Exp,
	"tanh":    math.Tanh,
	"sigmoid": sigmoid,
	"silu":    func(x float64) float64 { return x * sigmoid(x) },
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// gelu holds the three forms that the mode argument names.
var gelu = map[string]func(x float64) float64{
	ops.GeluExact: func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 },
	ops.GeluTanh: func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
	},
	ops.GeluSigmoid: func(x float64) float64 { return x * sigmoid(1.702*x) },
}

// intMaps are the operators that also take integers.
var intMaps = map[string]func(x int32) int32{
	"abs":  func(x int32) int32 { return max(x, -x) },
	"relu": func(x int32) int32 { return max(x, 0) },
}

type floatUnary struct {
	cost int
	op   func(x []float32) // in place
}

func (r *floatUnary) Run(c *run.Call) { c.Spread(c.Out[0].Len(), r.Element()) }

func (r *floatUnary) Element() int { return r.cost }

func (r *floatUnary) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		x := c.Work[worker][:min(run.Chunk, hi-lo)]
		c.In[0].Load(x, lo)
		r.op(x)
		c.Out[0].Store(x, lo)
	}
}

type intUnary struct{ op func(x int32) int32 }

func (r *intUnary) Run(c *run.Call) { c.Spread(c.Out[0].Len(), r.Element()) }

func (*intUnary) Element() int { return 1 }

func (r *intUnary) Span(c *run.Call, lo, hi, worker int) {
	x, out := c.In[0].Ints, c.Out[0].Ints
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		for i := lo; i < min(lo+run.Chunk, hi); i++ {
			out[i] = r.op(x[i])
		}
	}
}
