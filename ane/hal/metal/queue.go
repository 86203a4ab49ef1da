package metal

import (
	"context"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	"github.com/anekit/anekit/unimem"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// ErrClosed: a call on a closed, nil or zero Queue. It matches hal.ErrClosed.
var ErrClosed = joint.ErrClosed

// Queue starts work on a GPU in the order of hal's timelines. NewQueue makes one, and its caller closes it. Its methods
// are safe for concurrent use, and no call but Close waits.
type Queue struct {
	queue  *joint.Queue[gpu.Command]
	device *gpu.Device
}

// NewQueue makes a Queue on d, which stays the caller's: close it after the Queue.
func NewQueue(d *gpu.Device) *Queue {
	begin := func(commands []gpu.Command) (end func() error, err error) {
		w, err := d.Submit(nil, nil, commands...)
		return func() error { return w.Wait(context.Background()) }, err
	}
	return &Queue{joint.NewQueue("metal", begin), d}
}

// Execute runs the commands on the GPU once every wait is reached, and then signals. Execute does not wait: the
// signals tell the outcome. They fail if a wait fails, if the GPU refuses or fails the work (errors of unimem/metal),
// or if ctx ends first. Work that the GPU has begun then continues: its Buffers stay in use, and Close waits for it.
// Without commands the waits are passed on to the signals.
//
// The GPU runs submissions in the order in which their waits are reached. The error is ErrClosed, or matches
// hal.ErrClosed for a Point without a Semaphore.
func (q *Queue) Execute(ctx context.Context, waits, signals []hal.Point, commands ...gpu.Command) error {
	if q == nil {
		return ErrClosed
	}
	return q.queue.Execute(ctx, waits, signals, commands)
}

// Close refuses new work, fails what has not begun on the GPU with ErrClosed, and waits until the GPU has ended the
// rest. If ctx ends first Close returns its error; a later Close goes on. Repeating it returns nil.
func (q *Queue) Close(ctx context.Context) error {
	if q == nil {
		return nil
	}
	return q.queue.Close(ctx)
}

// Kernels returns kernels by the names of their Programs as a hal.GPU, which works in the order of the Queue. Kernels,
// Queue and Device stay the caller's, and stay open while it is used. Kernels whose Program has no Needs are refused.
func (q *Queue) Kernels(all ...*gpu.Kernel) hal.GPU {
	named := map[string]*gpu.Kernel{}
	for _, k := range all {
		named[k.Program().Name] = k
	}
	return &joint.Kernels[*gpu.Buffer, *gpu.Kernel]{Align: 4, Named: named,
		Make: func(_ context.Context, b *unimem.Block) (*gpu.Buffer, error) { return q.device.NewBuffer(b) },
		Describe: func(k *gpu.Kernel) (needs joint.Needs, ranges, push int) {
			p := k.Program()
			return p.Needs, len(p.Buffers), p.Push
		},
		Execute: func(signals []hal.Point, k *gpu.Kernel, b *gpu.Buffer, ranges [][2]int, push []byte, x, y int) error {
			c := gpu.Dispatch{Kernel: k, Push: push, Groups: k.Program().Groups(x, y, 1)}
			for _, r := range ranges {
				c.Buffers = append(c.Buffers, b.Range(r[0], r[1]))
			}
			return q.Execute(context.Background(), nil, signals, c)
		}}
}
