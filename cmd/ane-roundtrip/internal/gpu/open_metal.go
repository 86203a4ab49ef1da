//go:build darwin && cgo

package gpu

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane/hal"
	bridge "github.com/anekit/anekit/ane/hal/metal"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/metal"
)

// Open opens a GPU of this Mac: the default one for Auto, or that whose name contains choice or whose ID begins with it.
// The error matches ane.ErrUnavailable without such a GPU, or without Metal 3. It was never run.
func Open(ctx context.Context, choice string) (Device, error) {
	var opts []metal.Option
	if choice != Auto {
		opts = append(opts, metal.Choose(choice))
	}
	d, err := metal.Open(opts...)
	var e *metal.Error
	if errors.As(err, &e) {
		return nil, unavailable(e.Err.Error(), e.Hint)
	}
	if err != nil {
		return nil, err
	}
	made := &device{d: d, queue: bridge.NewQueue(d)}
	for i, p := range []metal.Program{scaleKernel: metal.Scale(), productKernel: metal.Product(),
		linearKernel: metal.Linear()} {
		if made.kernels[i], err = d.NewKernel(p); err != nil {
			return nil, errors.Join(err, made.Close(context.WithoutCancel(ctx)))
		}
	}
	return made, nil
}

type device struct {
	d       *metal.Device
	queue   *bridge.Queue
	kernels [3]*metal.Kernel // by Work.kernel
}

func (d *device) Report() Report {
	kind := "discrete"
	if d.d.Unified() {
		kind = "integrated"
	}
	return Report{Name: d.d.Name(), Driver: "Metal", ID: d.d.Name(), Kind: kind, API: "Metal",
		Import: "newBufferWithBytesNoCopy", Alignment: unimem.PageSize}
}

func (d *device) Import(_ context.Context, b *unimem.Block) (Memory, error) { return d.d.NewBuffer(b) }

func (d *device) Load(ctx context.Context, b *unimem.Block) (Memory, error) { return d.Import(ctx, b) }

func (d *device) Kernels() hal.GPU {
	return d.queue.Kernels(d.kernels[productKernel], d.kernels[scaleKernel])
}

func (d *device) Capture(path string, f func() error) error { return d.d.Capture(path, f) }

func (d *device) Copied() int64 { return 0 }

func (d *device) Own(_ context.Context, size int) (Memory, error) { return d.d.Allocate(size) }

func (d *device) Submit(ctx context.Context, waits, signals []hal.Point, w Work) error {
	k := d.kernels[w.kernel()]
	buffers, push, x, y := bound[*metal.Buffer](w)
	groups := k.Program().Groups(x, y, 1)
	groups[0] = min(groups[0], maxGroups)
	return d.queue.Execute(ctx, waits, signals,
		metal.Dispatch{Kernel: k, Buffers: buffers, Push: push, Groups: groups})
}

func (d *device) Close(ctx context.Context) error {
	err := d.queue.Close(ctx)
	for _, k := range d.kernels {
		err = errors.Join(err, k.Close())
	}
	return errors.Join(err, d.d.Close())
}
