//go:build darwin && cgo

package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/anekit/anekit/ane/hal"
	bridge "github.com/anekit/anekit/ane/hal/metal"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/metal"
)

// EnvDevice is the environment variable that chooses a device. Package metal opens the default one.
const EnvDevice = "ANEKIT_GPU"

// Open opens the GPU of this Mac; choice is Auto, or a part of its name. The error matches ane.ErrUnavailable without a
// GPU that Metal knows, or with another name. It was never run.
func Open(ctx context.Context, choice string) (Device, error) {
	d, err := metal.Open()
	var e *metal.Error
	if errors.As(err, &e) {
		return nil, unavailable(e.Err.Error(), e.Hint)
	}
	if err != nil {
		return nil, err
	}
	if choice != Auto && !strings.Contains(strings.ToLower(d.Name()), strings.ToLower(choice)) {
		name := d.Name()
		return nil, errors.Join(unavailable("the GPU of this Mac is "+name, "leave out the name"), d.Close())
	}
	made := &device{d: d, queue: bridge.NewQueue(d)}
	if made.product, err = d.NewKernel(metal.Product()); err == nil {
		made.scale, err = d.NewKernel(metal.Scale())
	}
	if err != nil {
		return nil, errors.Join(err, made.Close(context.WithoutCancel(ctx)))
	}
	return made, nil
}

type device struct {
	d              *metal.Device
	queue          *bridge.Queue
	product, scale *metal.Kernel
}

func (d *device) Report() Report {
	kind := "discrete"
	if d.d.Unified() {
		kind = "integrated"
	}
	return Report{Name: d.d.Name(), Driver: "Metal", ID: d.d.Name(), Kind: kind, API: "Metal",
		Road: "newBufferWithBytesNoCopy", Alignment: unimem.PageSize}
}

func (d *device) Import(_ context.Context, b *unimem.Block) (Memory, error) { return d.d.NewBuffer(b) }

func (d *device) Own(_ context.Context, size int) (Memory, error) { return d.d.Allocate(size) }

func (d *device) Product(ctx context.Context, m Memory, n int) error {
	b := m.(*metal.Buffer)
	size := 4 * n * n
	done := hal.NewSemaphore(0)
	err := d.queue.Execute(ctx, nil, []hal.Point{{Semaphore: done, Value: 1}}, metal.Dispatch{Kernel: d.product,
		Buffers: []metal.Range{b.Range(0, size), b.Range(size, size), b.Range(2*size, size)},
		Push:    binary.NativeEndian.AppendUint32(nil, uint32(n)), Groups: metal.Product().Groups(n, n, 1)})
	if err != nil {
		return err
	}
	return done.Wait(ctx, 1)
}

func (d *device) Scale(ctx context.Context, waits, signals []hal.Point, m Memory, offset, length int, factor,
	add float32) error {
	const groups = 256 // at most: the kernel strides over the rest
	r := m.(*metal.Buffer).Range(offset, length)
	push := binary.NativeEndian.AppendUint32(nil, uint32(length/4))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(factor))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(add))
	n := metal.Scale().Groups(length/4, 1, 1)
	n[0] = min(n[0], groups)
	return d.queue.Execute(ctx, waits, signals, metal.Dispatch{Kernel: d.scale, Buffers: []metal.Range{r, r},
		Push: push, Groups: n})
}

func (d *device) Close(ctx context.Context) error {
	err := d.queue.Close(ctx)
	return errors.Join(err, d.product.Close(), d.scale.Close(), d.d.Close())
}
