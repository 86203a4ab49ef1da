// Package kernbench has the kernels of the software engine as cases: each beside its floor, or beside the same product
// by another library. Kernels have one worker, apart from the block of a transformer.
package kernbench

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

// kernel is an operation of the engine beside its floor.
func kernel(name string, items int, operation, floor measure.Opener, target float64) measure.Case {
	return measure.Case{Name: name, What: name, Items: items, MaxRatio: target, Open: operation, Floor: floor}
}

// one is a program of one worker.
func one(text string) measure.Opener { return programs(nil, []soft.Option{soft.Workers(1)}, text) }

// programs runs programs one after another on an engine.
func programs(weights ane.Weights, opts []soft.Option, texts ...string) measure.Opener {
	return func(t *step.T) measure.Loop {
		d := step.Must(ane.Open(soft.New(opts...), ""))
		t.Closing(d.Close)
		var requests []*ane.Request
		for _, text := range texts {
			requests = append(requests, measure.Program(t, d, ane.Source{Text: []byte(text), Weights: weights}, fill))
		}
		return measure.Repeat(func() error {
			for _, r := range requests {
				if _, err := r.Evaluate(t.Ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// fill writes numbers from -2 to 2.
func fill(t *ane.Tensor) error {
	list := make([]float32, t.Layout().Elements())
	for i := range list {
		list[i] = float32(i*7919%4001-2000) / 1000
	}
	_, err := t.WriteFloat32(list)
	return err
}
