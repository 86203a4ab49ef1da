package tripbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// rounds is how often each thing is timed.
const rounds = 5000

// sizes are those of the inputs in bytes.
var sizes = [...]int{1 << 20, 16 << 20, 256 << 20}

// Measure times evaluations on d, each in turn with the floor, whose best counts.
func Measure(ctx context.Context, d *ane.Device, progress func(string)) (r Report, err error) {
	r.Engine = d.Receipt().Engine
	for _, n := range sizes {
		progress("an evaluation of " + size(n))
		floor, err := signals(ctx)
		if err != nil {
			return r, err
		}
		if r.Floor == 0 || floor < r.Floor {
			r.Floor = floor
		}
		t, err := trip(ctx, d, n)
		if err != nil {
			return r, err
		}
		r.Trips = append(r.Trips, t)
	}
	for i := range r.Trips {
		r.Trips[i].Ratio = float64(r.Trips[i].P50) / float64(r.Floor)
	}
	return r, nil
}

// row is a program whose work does not depend on the size of its input.
func row(bytes int) (ane.Source, error) {
	const width = 32
	planes := bytes / (512 * width * 2)
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, planes, 512, width)
	f.Output(f.Op("slice_by_size", mil.TensorOf(mil.FP16, 1, 1, 1, width), "y", mil.A("x", x),
		mil.A("begin", f.Const("begin", mil.Int32s(0, planes-1, 511, 0))), mil.A("size", f.Const("size", mil.Int32s(1, 1, 1, width)))))
	p, err := b.Program()
	if err != nil {
		return ane.Source{}, err
	}
	return ane.Source{File: "row.mil", Text: mil.Print(p)}, nil
}

// trip times the program over an input of so many bytes.
func trip(ctx context.Context, d *ane.Device, bytes int) (t Trip, err error) {
	src, err := row(bytes)
	if err != nil {
		return t, err
	}
	m, err := d.Compile(ctx, src)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, m.Close(context.WithoutCancel(ctx))) }()
	if err := m.Load(ctx); err != nil {
		return t, err
	}
	tensors := map[string]*ane.Tensor{}
	for _, l := range append(m.Inputs(), m.Outputs()...) {
		block, err := unimem.Open(l.Bytes())
		if err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, block.Close()) }()
		if tensors[l.Name], err = ane.OnBlock(block, l); err != nil {
			return t, err
		}
	}
	if err := tensors["x"].Set(7, 0, m.Inputs()[0].Channels-1, 511, 3); err != nil {
		return t, err
	}
	q, err := m.Bind(map[string]*ane.Tensor{"x": tensors["x"]}, map[string]*ane.Tensor{"y": tensors["y"]})
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	t.Bytes = bytes
	if t.P50, t.P99, err = timed(ctx, func() error {
		_, err := m.Evaluate(context.Background(), q)
		return err
	}); err != nil {
		return t, err
	}
	if v, err := tensors["y"].At(0, 0, 0, 3); err != nil || v != 7 {
		return t, errors.Join(err, fmt.Errorf("tripbench: the engine gave %v, want 7", v))
	}
	t.Allocs = testing.AllocsPerRun(1000, func() {
		if _, fault := m.Evaluate(context.Background(), q); fault != nil {
			err = fault
		}
	})
	return t, err
}

// signals returns the median time of a signal to another process and back.
func signals(ctx context.Context) (p50 time.Duration, err error) {
	s, err := NewSignals()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	// Should the other process die, nobody waits for it longer than ctx.
	defer context.AfterFunc(ctx, s.interrupt)()
	p50, _, err = timed(ctx, s.Trip)
	return p50, err
}

// timed returns the median and the 99th percentile of a call, looking at ctx now
// and then.
func timed(ctx context.Context, call func() error) (p50, p99 time.Duration, err error) {
	times := make([]time.Duration, rounds)
	for i := range times {
		if i%256 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		start := time.Now()
		if err := call(); err != nil {
			return 0, 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[rounds/2], times[rounds*99/100], nil
}
