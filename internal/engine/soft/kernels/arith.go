package kernels

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// Arith is the arithmetic of a step, and of a plan before of picks that of each step.
type Arith struct {
	Operand numerics.Rules // of the halves that the step reads
	Tables  *Tables
	Result  numerics.Rules // of those that it writes
	Only    int            // element that a product computes, counted from 1; 0 for all
	Apart   bool           // no steps are fused
}

// Of returns the arithmetic of an operator.
func (a Arith) Of(op string) Arith {
	a.Result = a.Operand
	switch {
	case op == "cast": // by the host, not in the engine
		a.Operand, a.Result = 0, 0
	case strings.HasPrefix(op, "constexpr_"): // weights are expanded to fp16, rounded as the chip rounds
		a.Operand, a.Result = 0, a.Result&numerics.HalfAway
	case strings.HasPrefix(op, "reduce_") && a.Operand.Has(numerics.ReduceAway):
		a.Result |= numerics.HalfAway
	}
	return a
}

// Step is one operation with its operands and results, as a kernel prepares it.
type Step struct {
	Op      string // the operator's name
	Name    string // of the first result
	Attrs   any
	Packed  *PackedAttrs // of the weight that stays packed, or nil
	In, Out []*Tensor
	Arith   Arith
	Decode  *int // the float32s that newOperand may still decode ahead
}

// Tensor is an operand or a result.
type Tensor struct {
	DType    mil.DType
	Shape    []int
	Given    bool // false for an optional operand that is omitted
	Constant bool
	Data     run.Vec   // elements of a constant
	Stored   bool      // data has integers below 8 bits without gaps
	Ahead    []float32 // elements of a constant, decoded by newOperand
}

// Kernel prepares one step. It reads shapes, settings and constants, none of which
// change any more, and returns the runner and the float32s of workspace that each
// worker needs.
type Kernel func(s *Step) (run.Runner, int)

// Make lets a kernel prepare the step.
func (s *Step) Make(k Kernel) (run.Runner, int) {
	r, work := k(s)
	return s.imitate(r, work)
}

// imitate replaces the runner that the kernel made where a chip computes in another way.
func (s *Step) imitate(run run.Runner, work int) (run.Runner, int) {
	r := s.Arith.Operand
	if r == 0 || len(s.Out) == 0 || s.Out[0].DType != mil.FP16 {
		return run, work
	}
	a, sliced := s.Attrs.(ops.Slice)
	p, summed := run.(*product)
	_, integers := s.Attrs.(ByteWindow)
	switch {
	case summed && integers:
		f, work := newFixed(p, r)
		f.scales, _ = p.panels.(scales)
		return f, work
	case summed && s.readsHalves(0) && s.readsHalves(1) && r&sumRules != 0:
		if s.Arith.Only == 0 {
			p = turn(p)
		}
		f, work := newFixed(p, r)
		f.only = s.Arith.Only
		return f, work
	case r&sumRules != 0 || r.Has(numerics.Steps|numerics.Tables):
		switch run := run.(type) {
		case *attender:
			return newSteppedAttention(s, run, work)
		case *recurrence:
			return newSteppedRecurrence(s, run, work)
		}
	}
	if run, ok := run.(*floatBinary); ok && s.numbers() {
		return &numberBinary{walk: run.walk, op: numberOps[s.Op], away: r.Has(numerics.HalfAway)}, 0
	}
	if plain, ok := run.(*reducer); ok {
		if made := newReducerRun(plain, r); made != nil {
			return made, work
		}
		return run, work
	}
	if r.Has(numerics.Steps | numerics.Tables) {
		switch run := run.(type) {
		case *softmaxer:
			made := newStepped(s, run)
			if made.exp != nil && run.lanes.runOf(r) {
				return steppedRun{made}, work
			}
			return made, work
		case *normer:
			made := &steppedNorm{*run, r}
			if run.lanes.runOf(r) {
				return steppedNormRun{made}, work
			}
			if t := run.lanes.turned(); t != nil && !run.channels && r.Has(numerics.Exponent31) {
				made.lanes = t.lanes
				return &steppedNormTurned{made, t}, t.room()
			}
			return made, work
		}
	}
	if sliced && s.Op != "slice_update" && !a.Moving && r.Has(numerics.SliceTimes16) && a.Begin[len(a.Begin)-1] != 0 {
		return &slicedInside{run}, work
	}
	return run, work
}

// slicedInside is a slice that begins inside the last axis of a tensor of the M1.
type slicedInside struct{ run.Runner }

func (r *slicedInside) Run(c *run.Call) {
	r.Runner.Run(c)
	out := &c.Out[0]
	for i, h := range out.Half {
		if i%(64*run.Chunk) == 0 && c.Pause(0) {
			return
		}
		out.Half[i] = out.Rules.SliceInside(h)
	}
}

// key names a function with its settings.
func (s *Step) key() string { return fmt.Sprintf("%s %#v %d", s.Op, s.Attrs, s.Arith.Operand) }

// IsElementwise reports whether the runner of an operator will be elementwise.
func IsElementwise(op string, attrs any) bool {
	switch op {
	case "cast", "prelu", "softplus_parametric", "select", "abs", "relu", "sqrt", "rsqrt", "gelu":
		return true
	}
	_, binary := intOps[op]
	u, _ := attrs.(ops.Unary)
	return binary || mathMap(op, u) != nil
}

// TableBytes returns the bytes of the tables that runners use.
func TableBytes(runners []run.Runner) int {
	seen := map[*table]bool{}
	for _, r := range runners {
		switch r := r.(type) {
		case *halfUnary:
			seen[r.table] = true
		case *stepped:
			seen[r.exp] = true
		case steppedRun:
			seen[r.exp] = true
		case *steppedAttention:
			seen[r.table] = true
		}
	}
	delete(seen, nil)
	return tableBytes * len(seen)
}
