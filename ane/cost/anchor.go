package cost

import (
	"math"

	"github.com/anekit/anekit/ane/chip"
)

// anchor is a model of a whole call: overhead and the longer of the time of the arithmetic and that of the bytes.
type anchor struct {
	overhead, flops, bytes, error float64
	degree                        chip.Degree
	source                        string
	note                          string
}

// anchors holds the published ones. M3 has none: its neighbor's stands in.
var anchors = map[chip.Chip]anchor{
	chip.M1: {220, 3.25e6, 9e3, 0.31, chip.Measured, "forge: 17 % on five convolutions, 31 % on 68 graphs", ""},
	chip.M2: {100, 7.3e6, 48e3, 0.16, chip.Measured, "forge, on M2 Pro: 1.16x in the mean on 25 graphs", ""},
	chip.M3: {100, 7.3e6, 48e3, 0.5, chip.Inferred, "as M2 Pro", "no times of M3 are published"},
	chip.M5: {110, 8.9e6, 57e3, 0.13, chip.Measured, "forge: 13 %",
		"fused chains reach 19 TFLOPS and 145 GB/s"},
}

// rate is the arithmetic of a program of so many operations: M2 reaches its rate from 1.8e10.
func (a anchor) rate(c chip.Chip, flops float64) float64 {
	if c == chip.M2 || c == chip.M3 {
		return a.flops * min(1, math.Pow(max(flops, 1)/1.8e10, 0.38))
	}
	return a.flops
}

// anchored estimates a call by the chip's anchor. The time of the operators is their share of the longer of the two.
func (w *work) anchored(e *Estimate) {
	a := anchors[w.Chip]
	macs, weights, passed := 0.0, 0.0, 0.0
	for _, l := range w.layers {
		op := l.operator()
		switch p := l.product; {
		case l.host != nil:
		case p != nil:
			op.MACs, op.Tasks = p.macs, 1
			if p.weight != nil && !w.read[p.weight.key] {
				w.read[p.weight.key] = true
				op.Weights = p.weight.stored
			}
		case len(l.Out) > 0:
			op.Elements, op.Tasks = int64(elements(l.Out[0])), 1
		}
		macs += op.MACs
		weights += float64(op.Weights)
		passed += float64(op.Elements)
		e.Ops = append(e.Ops, op)
		e.Tasks += op.Tasks
	}
	moved, _ := w.moves()
	rate := a.rate(w.Chip, 2*macs+passed)
	arithmetic, reading := (2*macs+passed)/rate, (weights+moved)/a.bytes
	part := func(v float64) Time {
		return Time{Figure{Value: v, Degree: min(a.degree, chip.Inferred), Source: a.source}}
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		op.Time, op.Bound = part(float64(op.Weights)/a.bytes), Weights
		if arithmetic >= reading {
			op.Time, op.Bound = part((2*op.MACs+float64(op.Elements))/rate), MAC
		}
		switch {
		case op.Time.Value == 0:
			op.Bound = Nothing
		case op.Bound == MAC && op.MACs == 0:
			op.Bound = PE
		}
	}
	if arithmetic < reading {
		e.Parts = append(e.Parts, Part{"inputs and outputs", part(moved / a.bytes), Activations})
	}
	whole := func(v float64) Figure { return Figure{Value: v, Degree: a.degree, Source: a.source} }
	e.Parts = append(e.Parts, Part{"dispatch", Time{whole(a.overhead)}, Dispatch})
	e.Task = Time{whole(max(arithmetic, reading))}
	e.Call, e.Error = Time{whole(a.overhead + e.Task.Value)}, whole(a.error)
	e.Notes = append(e.Notes, "operators have their share of the longer of arithmetic and bytes of the whole program")
	if a.note != "" {
		e.Notes = append(e.Notes, a.note)
	}
}
