package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/ops"
)

// Figures of Core ML's segmenter. toll is the microseconds of a segment, a change of place, and outputs on the engine.
// moveRate is the bytes per microsecond of an operator that moves elements.
const (
	toll     = 125.0
	moveRate = 100e3
)

// moverates holds how much longer than bytes over moveRate an operator is estimated, on the engine and on the CPU.
var moverates = map[string][2]float64{
	"relu": {1, 1}, "softmax": {1.37, 1.645}, "layer_norm": {1.37, 1.645}, "transpose": {1.454, 1.145},
	"concat": {1, 8.7}, "resize_bilinear": {0.505, 76}, "upsample_bilinear": {0.505, 76}, "tile": {1.37, 1.645},
}

// estimates returns the segmenter's estimates of a layer, on the engine and on the CPU.
func (l *layer) estimates() (engine, cpu float64) {
	if p := l.product; p != nil {
		rates := [2]float64{16.2e6, 0.755e6} // operations per microsecond
		switch {
		case l.Op.Kind == "scaled_dot_product_attention":
			rates = [2]float64{4.67e6, 3.89e6}
		case !p.conv:
			rates = [2]float64{3.74e6, 0.754e6}
		case p.is(1, 1):
			rates = [2]float64{7.17e6, 0.388e6}
		}
		return 2 * p.macs / rates[0], 2 * p.macs / rates[1]
	}
	if l.cost == ops.Free {
		return 0, 0
	}
	moved := 0.0
	for _, t := range append(slices.Clone(l.in), l.Out...) {
		moved += bytes(t)
	}
	f, ok := moverates[l.Op.Kind]
	if !ok {
		f = [2]float64{1, 1.2}
	}
	return f[0] * moved / moveRate, f[1] * moved / moveRate
}

// places is one way to place the layers so far.
type places struct {
	cost     float64
	engine   int // layers
	segments int
}

// or returns the cheaper way, the first of equal ones; the second costs a change more.
func (p places) or(q places, change float64) places {
	if q.cost += change; q.cost < p.cost {
		return q
	}
	return p
}

// place chooses the cheapest places for the layers in their order, on the engine only where ops.Place has them.
func (r *program) place(c chip.Chip) Placement {
	source := cmp.Or(map[chip.Chip]string{chip.M4: "fit of the study's estimates on M4 (5.2)",
		chip.M6: "fit of the study's estimates for h18g (5.2)"}[c], "as M4 (study 5.2)")
	figure := func(v float64) Time { return Time{inferred(v, source)} }
	var sumEngine, sumCPU float64
	where := ops.Place(r.Graph, c, chip.CoreML).Where
	on, off := places{cost: math.Inf(1)}, places{} // with the last layer on the engine, or on the CPU
	for i, l := range r.layers {
		engine, cpu := l.estimates()
		started, enter := off, toll // a segment
		started.segments++
		if i > 0 {
			enter += toll // and a change
		}
		off = off.or(on, toll)
		off.cost += cpu
		sumCPU += cpu
		if where[l.Node] == ops.OnEngine {
			on = on.or(started, enter)
			on.engine++
		} else {
			on, engine = places{cost: math.Inf(1)}, cpu
		}
		on.cost += engine
		sumEngine += engine
	}
	best := off.or(on, toll)
	return Placement{Engine: figure(sumEngine), CPU: figure(sumCPU), Chosen: figure(best.cost), OnEngine: best.engine,
		OnCPU: len(r.layers) - best.engine, Segments: best.segments}
}
