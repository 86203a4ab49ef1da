//go:build ((linux && cgo && !macrules) || windows) && (amd64 || arm64)

package gpu

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane/hal"
	bridge "github.com/anekit/anekit/ane/hal/vulkan"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/vulkan"
)

// Open opens the device whose name contains choice, or whose ID begins with it; Auto takes that of EnvDevice, or the
// one that package vulkan prefers. The error matches ane.ErrUnavailable without a driver or such a device.
func Open(ctx context.Context, choice string) (Device, error) {
	var opts []vulkan.Option
	if choice != Auto {
		opts = append(opts, vulkan.Choose(choice))
	}
	d, err := vulkan.Open(ctx, opts...)
	var e *vulkan.Error
	if (errors.Is(err, vulkan.ErrUnavailable) || errors.Is(err, vulkan.ErrDevice)) && errors.As(err, &e) {
		return nil, unavailable(e.Err.Error(), e.Hint)
	}
	if err != nil {
		return nil, err
	}
	made := &device{d: d}
	made.queue, err = bridge.NewQueue(d)
	for i, p := range []vulkan.Program{scaleKernel: vulkan.Scale(), productKernel: vulkan.Product(),
		linearKernel: vulkan.Linear()} {
		if err == nil {
			made.kernels[i], err = d.NewKernel(ctx, p)
		}
	}
	if err != nil {
		return nil, errors.Join(err, made.Close(context.WithoutCancel(ctx)))
	}
	return made, nil
}

type device struct {
	d       *vulkan.Device
	queue   *bridge.Queue
	kernels [3]*vulkan.Kernel // by Work.kernel
}

func (d *device) Report() Report {
	i := d.d.Info()
	imported := "host memory"
	if !i.HostMemory {
		imported = "copy"
	}
	return Report{Name: i.Name, Driver: i.Driver, ID: i.ID, Kind: i.Kind, API: "Vulkan " + i.API, Import: imported,
		Alignment: i.Alignment}
}

func (d *device) Import(ctx context.Context, b *unimem.Block) (Memory, error) {
	return d.d.Import(ctx, b)
}

func (d *device) Load(ctx context.Context, b *unimem.Block) (Memory, error) { return d.d.Load(ctx, b) }

func (d *device) Kernels() hal.GPU {
	return d.queue.Kernels(d.kernels[productKernel], d.kernels[scaleKernel])
}

func (d *device) Capture(string, func() error) error {
	return unavailable("Vulkan writes no captures", "--capture is for the GPU of a Mac; RenderDoc captures Vulkan")
}

func (d *device) Copied() int64 { return d.d.Copied() }

func (d *device) Own(ctx context.Context, size int) (Memory, error) { return d.d.NewBuffer(ctx, size) }

func (d *device) Submit(ctx context.Context, waits, signals []hal.Point, w Work) error {
	k := d.kernels[w.kernel()]
	buffers, push, x, y := bound[*vulkan.Buffer](w)
	groups := k.Program().Groups(x, y, 1)
	groups[0] = min(groups[0], maxGroups)
	return d.queue.Execute(ctx, waits, signals,
		vulkan.Dispatch{Kernel: k, Buffers: buffers, Push: push, Groups: groups})
}

func (d *device) Close(ctx context.Context) error {
	err := d.queue.Close(ctx)
	return errors.Join(err, d.d.Close(ctx)) // with its kernels
}
