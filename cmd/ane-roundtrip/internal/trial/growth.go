package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
)

// large describes the program of growth: the largest element of each channel. Its
// input is 32 MiB, or 256 MiB for an engine in another process, whose memory must
// not grow by a thirtieth of that: threads that a busy machine has the runtimes start
// take some MiB, a copy takes all.
func large(apart bool) (ane.Source, error) {
	channels := 64
	if apart {
		channels = 512
	}
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, 512, 512)
	f.Output(f.Op("reduce_max", mil.TensorOf(mil.FP16, 1, channels, 1, 1), "y", mil.A("x", x),
		mil.A("axes", f.Const("axes", mil.Int32s(2, 3))), mil.A("keep_dims", f.Const("keep", mil.BoolScalar(true)))))
	p, err := b.Program()
	if err != nil {
		return ane.Source{}, err
	}
	return ane.Source{File: "growth.mil", Text: mil.Print(p)}, nil
}

// growth runs a program over a large tensor whose pages all exist already: an
// engine that copies it anywhere, in either process, needs as much memory again.
func growth(ctx context.Context, d *ane.Device, small models.Model) (checks []Check, err error) {
	const name = "memory/growth"
	_, _, apart := d.Traffic()
	src, err := large(apart)
	if err != nil {
		return nil, err
	}
	r, err := NewRig(ctx, d, src)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	processes, whose := []int{os.Getpid()}, "this process"
	if pid, _ := r.Request.PeerInput("x"); pid != 0 {
		processes, whose = append(processes, pid), "both processes"
	}
	// Binding again, once every page was touched, puts the whole life of a
	// request between the two readings.
	clear(r.In["x"].Bytes())
	clear(r.Out["y"].Bytes())
	if err := r.Request.Close(); err != nil {
		return nil, err
	}
	runtime.GC()
	before, err := procmem.Proportional(processes...)
	if err != nil {
		return []Check{skip(name, "%v", err)}, nil
	}
	if r.Request, err = r.Model.Bind(r.In, r.Out); err != nil {
		return nil, err
	}
	if _, err := r.Model.Evaluate(ctx, r.Request); err != nil {
		return nil, err
	}
	after, err := procmem.Proportional(processes...)
	if err != nil {
		return nil, err
	}
	size := int64(r.TensorBytes())
	limit := size / 4
	if apart {
		limit = size / 30
	}
	checks = append(checks, Judge(name, after-before < limit, float64(after-before), "bytes",
		"memory of %s grew by %s while %s of tensors were bound and evaluated", whose, mebi(after-before), mebi(size)))
	if !apart {
		return checks, nil
	}
	traffic, err := traffic(ctx, d, r, small)
	return append(checks, traffic), err
}

// messages is what an evaluation may send and receive at most, in bytes.
const messages = 256

// traffic counts what goes between the processes for an evaluation of a large
// tensor, and of a small one.
func traffic(ctx context.Context, d *ane.Device, big *Rig, small models.Model) (check Check, err error) {
	r, err := modelRig(ctx, d, small)
	if err != nil {
		return Check{}, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	var cost [2]int64
	for i, rig := range []*Rig{big, r} {
		sent, received, _ := d.Traffic()
		if _, err := rig.Model.Evaluate(ctx, rig.Request); err != nil {
			return Check{}, err
		}
		s, g, _ := d.Traffic()
		cost[i] = s - sent + g - received
	}
	return Judge("sharing/traffic", cost[0] == cost[1] && cost[0] > 0 && cost[0] <= messages, float64(cost[0]), "bytes",
		"an evaluation sends and receives %d bytes beside %s of tensors, %d beside %s", cost[0], mebi(int64(big.TensorBytes())), cost[1], kibi(int64(r.TensorBytes()))), nil
}

func mebi(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func kibi(n int64) string { return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)) }
