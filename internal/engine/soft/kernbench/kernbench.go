// Package kernbench has the kernels of the software engine as cases: each beside its floor, or beside the same product
// by another library. Kernels have one worker, apart from the block of a transformer.
package kernbench

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/measure"
)

// side prepares what takes turns, and returns it and what closes it.
type side func(ctx context.Context) (once, done func() error, err error)

// bare is a side that cannot fail.
func bare(prepare func() func()) side {
	return func(context.Context) (once, done func() error, err error) {
		run := prepare()
		return func() error { run(); return nil }, func() error { return nil }, nil
	}
}

// pair opens two sides.
func pair(sides ...side) func(context.Context) (measure.Pair, error) {
	return func(ctx context.Context) (p measure.Pair, err error) {
		var loops []measure.Loop
		var all []func() error
		p.Close = func() (err error) {
			for _, done := range all {
				err = errors.Join(err, done())
			}
			return err
		}
		for _, s := range sides {
			once, done, err := s(ctx)
			if err != nil {
				return p, errors.Join(err, p.Close())
			}
			all = append(all, done)
			loops = append(loops, func(n int) error {
				for range n {
					if err := once(); err != nil {
						return err
					}
				}
				return nil
			})
		}
		p.Loop, p.Floor = loops[0], loops[1]
		return p, nil
	}
}

// kernel is a program of the engine beside its floor.
func kernel(name string, items int, program, floor side, target float64) measure.Case {
	return measure.Case{Name: name, What: name, Items: items, MaxRatio: target, Open: pair(program, floor)}
}

// one is a program of one worker.
func one(text string) side { return programs(1, nil, text) }

// programs runs programs one after another, on as many workers as processors if workers is 0.
func programs(workers int, weights ane.Weights, texts ...string) side {
	var opts []soft.Option
	if workers > 0 {
		opts = append(opts, soft.Workers(workers))
	}
	return with(opts, weights, texts...)
}

// unfused runs a program with each operator as a step of its own.
func unfused(workers int, text string) side {
	opts := []soft.Option{soft.Unfused()}
	if workers > 0 {
		opts = append(opts, soft.Workers(workers))
	}
	return with(opts, nil, text)
}

// with runs programs on an engine with options.
func with(opts []soft.Option, weights ane.Weights, texts ...string) side {
	return func(ctx context.Context) (once, done func() error, err error) {
		d, err := ane.Open(soft.New(opts...), "")
		if err != nil {
			return nil, nil, err
		}
		ends := []func() error{d.Close}
		done = func() (err error) {
			for i := range ends {
				err = errors.Join(err, ends[len(ends)-1-i]())
			}
			return err
		}
		var requests []*ane.Request
		once = func() error {
			for _, r := range requests {
				if _, err := r.Evaluate(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		for _, text := range texts {
			m, err := d.Compile(ctx, ane.Source{Text: []byte(text), Weights: weights})
			if err != nil {
				return nil, nil, errors.Join(err, done())
			}
			ends = append(ends, func() error { return m.Close(context.WithoutCancel(ctx)) })
			r, err := m.NewRequest(ctx)
			if err != nil {
				return nil, nil, errors.Join(err, done())
			}
			ends, requests = append(ends, r.Close), append(requests, r)
			for _, l := range m.Inputs() {
				list := make([]float32, l.Elements())
				for i := range list {
					list[i] = float32(i*7919%4001-2000) / 1000
				}
				if _, err := r.Input(l.Name).WriteFloat32(list); err != nil {
					return nil, nil, errors.Join(err, done())
				}
			}
		}
		return once, done, nil
	}
}
