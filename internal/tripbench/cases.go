package tripbench

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/measure"
)

// MaxSpread is the target of the largest tensor's time, in times of the smallest.
const MaxSpread = 1.2

// Sizes are the bytes of the inputs.
func Sizes() []int { return []int{1 << 20, 16 << 20, 256 << 20} }

// Cases returns an evaluation on d for each of Sizes, of a program that reads one row of its input.
func Cases(d *ane.Device) (all []measure.Case) {
	for _, n := range Sizes() {
		all = append(all, measure.Case{Name: fmt.Sprintf("Evaluate%dMB", n>>20), Each: true, MaxRatio: 2, MaxNs: 25e3,
			What: "Evaluate one row of " + measure.BytesText(n),
			Open: func(ctx context.Context) (p measure.Pair, err error) {
				s, err := newSignals()
				if err != nil {
					return p, err
				}
				// If the other process dies, a waiting trip ends with ctx.
				stop := context.AfterFunc(ctx, s.interrupt)
				r, err := openRow(ctx, d, n)
				p = measure.Pair{Loop: times(r.evaluate), Floor: times(s.trip), Close: func() error {
					stop()
					return errors.Join(r.close(context.WithoutCancel(ctx)), s.close())
				}}
				if err == nil {
					err = errors.Join(r.evaluate(), r.check())
				}
				if err != nil {
					return p, errors.Join(err, p.Close())
				}
				return p, nil
			}})
	}
	return all
}

// Floor is the floor alone, as a Case beside itself.
func Floor() []measure.Case {
	return []measure.Case{{Name: "Floor", Each: true, Open: func(context.Context) (p measure.Pair, err error) {
		s, err := newSignals()
		if err != nil {
			return p, err
		}
		return measure.Pair{Loop: times(s.trip), Floor: times(s.trip), Close: s.close}, nil
	}}}
}

// times repeats a call.
func times(call func() error) measure.Loop {
	return func(n int) error {
		for range n {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
}
