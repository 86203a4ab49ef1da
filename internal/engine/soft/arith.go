package soft

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// arith is the arithmetic of a step, and of a plan before of picks that of each step.
type arith struct {
	operand numerics.Rules // of the halves that the step reads
	tables  *tables
	result  numerics.Rules // of those that it writes
	only    int            // element that a product computes, counted from 1; 0 for all
	apart   bool           // no steps are fused
}

// of returns the arithmetic of an operator.
func (a arith) of(op string) arith {
	a.result = a.operand
	switch {
	case op == "cast": // by the host, not in the engine
		a.operand, a.result = 0, 0
	case strings.HasPrefix(op, "constexpr_"): // weights are expanded to fp16, rounded as the chip rounds
		a.operand, a.result = 0, a.result&numerics.HalfAway
	case strings.HasPrefix(op, "reduce_") && a.operand.Has(numerics.ReduceAway):
		a.result |= numerics.HalfAway
	}
	return a
}

// imitate replaces the runner that the kernel made where a chip computes in another way.
func (s *step) imitate() {
	r := s.arith.operand
	if r == 0 || len(s.out) == 0 || s.out[0].dtype != mil.FP16 {
		return
	}
	a, sliced := s.attrs.(ops.Slice)
	p, summed := s.run.(*product)
	_, integers := s.attrs.(byteWindow)
	switch {
	case summed && integers:
		s.run, s.work = newFixed(p, r)
		s.run.(*fixed).scales, _ = p.panels.(scales)
	case summed && s.readsHalves(0) && s.readsHalves(1) && r&sumRules != 0:
		if s.arith.only == 0 {
			p = turn(p)
		}
		s.run, s.work = newFixed(p, r)
		s.run.(*fixed).only = s.arith.only
	case r&sumRules != 0 || r.Has(numerics.Steps|numerics.Tables):
		switch run := s.run.(type) {
		case *attender:
			s.run, s.work = newSteppedAttention(s, run)
			return
		case *recurrence:
			s.run, s.work = newSteppedRecurrence(s, run)
			return
		}
	}
	if run, ok := s.run.(*floatBinary); ok && s.numbers() {
		s.run, s.work = &numberBinary{walk: run.walk, op: numberOps[s.op], away: r.Has(numerics.HalfAway)}, 0
		return
	}
	if run, ok := s.run.(*reducer); ok {
		if made := newReducerRun(run, r); made != nil {
			s.run = made
		}
		return
	}
	if r.Has(numerics.Steps | numerics.Tables) {
		switch run := s.run.(type) {
		case *softmaxer:
			made := newStepped(s, run)
			s.run = made
			if made.exp != nil && run.lanes.runOf(r) {
				s.run = steppedRun{made}
			}
			return
		case *normer:
			made := &steppedNorm{*run, r}
			s.run = made
			if run.lanes.runOf(r) {
				s.run = steppedNormRun{made}
			} else if t := run.lanes.turned(); t != nil && !run.channels && r.Has(numerics.Exponent31) {
				made.lanes = t.lanes
				s.run, s.work = &steppedNormTurned{made, t}, t.room()
			}
			return
		}
	}
	if sliced && s.op != "slice_update" && !a.Moving && r.Has(numerics.SliceTimes16) && a.Begin[len(a.Begin)-1] != 0 {
		s.run = &slicedInside{s.run}
	}
}

// slicedInside is a slice that begins inside the last axis of a tensor of the M1.
type slicedInside struct{ runner }

func (r *slicedInside) run(c *call) {
	r.runner.run(c)
	out := &c.out[0]
	for i, h := range out.half {
		if i%(64*chunk) == 0 && c.pause(0) {
			return
		}
		out.half[i] = out.rules.SliceInside(h)
	}
}

// key names a function with its settings.
func (s *step) key() string { return fmt.Sprintf("%s %#v %d", s.op, s.attrs, s.arith.operand) }
