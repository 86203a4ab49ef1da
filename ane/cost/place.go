package cost

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// Figures of Core ML's segmenter: microseconds for a segment, a change of place and outputs on the engine, and
// bytes per microsecond of an operator that moves elements.
const (
	toll     = 125.0
	moveRate = 100e3
)

// moverates holds how much longer than bytes over moveRate an operator is estimated, on the engine and on the CPU.
var moverates = map[string][2]float64{
	"relu": {1, 1}, "softmax": {1.37, 1.645}, "layer_norm": {1.37, 1.645}, "transpose": {1.454, 1.145},
	"concat": {1, 8.7}, "resize_bilinear": {0.505, 76}, "upsample_bilinear": {0.505, 76}, "tile": {1.37, 1.645},
}

// estimates returns the segmenter's estimates of a step, on the engine and on the CPU.
func (r *program) estimates(s *step) (engine, cpu float64) {
	if p := r.product(s); p != nil {
		rates := [2]float64{16.2e6, 0.755e6} // operations per microsecond
		switch {
		case s.Op.Kind == "scaled_dot_product_attention":
			rates = [2]float64{4.67e6, 3.89e6}
		case p.kernel == nil:
			rates = [2]float64{3.74e6, 0.754e6}
		case p.kw() == 1 && p.kh() == 1:
			rates = [2]float64{7.17e6, 0.388e6}
		}
		return 2 * p.macs / rates[0], 2 * p.macs / rates[1]
	}
	if s.cost == ops.Free {
		return 0, 0
	}
	moved := 0.0
	for _, t := range append(slices.Clone(s.in), s.Out...) {
		moved += bytes(t)
	}
	f, ok := moverates[s.Op.Kind]
	if !ok {
		f = [2]float64{1, 1.2}
	}
	return f[0] * moved / moveRate, f[1] * moved / moveRate
}

// place chooses the cheapest places for the steps in their order, on the engine only where ops.Place has them.
func (r *program) place(c chip.Chip) Placement {
	figure := func(v float64) Time {
		switch c {
		case chip.M4:
			return Time{inferred(v, "fit of the study's estimates on M4 (5.2)")}
		case chip.M6:
			return Time{inferred(v, "fit of the study's estimates for h18g (5.2)")}
		}
		return Time{inferred(v, "as M4 (study 5.2)")}
	}
	type state struct {
		cost     float64
		engine   int
		segments int
	}
	var sumEngine, sumCPU float64
	on, off := state{cost: math.Inf(1)}, state{}
	first := true
	where := ops.Place(r.graph, c, chip.CoreML).Where
	for _, s := range r.steps {
		engine, cpu := r.estimates(s)
		allowed := where[s.Node] == ops.OnEngine
		sumCPU += cpu
		if allowed {
			sumEngine += engine
		} else {
			sumEngine += cpu
		}
		enter := toll // a segment
		if !first {
			enter += toll // and a change
		}
		nextOn, nextOff := state{cost: math.Inf(1)}, off
		if on.cost+toll < off.cost {
			nextOff = state{on.cost + toll, on.engine, on.segments}
		}
		nextOff.cost += cpu
		if allowed {
			nextOn = on
			if off.cost+enter < on.cost {
				nextOn = state{off.cost + enter, off.engine, off.segments + 1}
			}
			nextOn.cost += engine
			nextOn.engine++
		}
		first = false
		on, off = nextOn, nextOff
	}
	best := off
	if on.cost+toll < off.cost {
		best = state{on.cost + toll, on.engine, on.segments}
	}
	return Placement{Engine: figure(sumEngine), CPU: figure(sumCPU), Chosen: figure(best.cost), OnEngine: best.engine,
		OnCPU: len(r.steps) - best.engine, Segments: best.segments}
}
