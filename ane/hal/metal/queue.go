package metal

import (
	"context"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// ErrClosed: a call on a closed, nil or zero Queue. It matches hal.ErrClosed.
var ErrClosed = joint.ErrClosed

// Queue starts work on a GPU in the order of hal's timelines. NewQueue makes one, and its caller closes it. Its methods
// are safe for concurrent use, and no call but Close waits.
type Queue struct{ queue *joint.Queue[gpu.Dispatch] }

// NewQueue makes a Queue on d, which stays the caller's: close it after the Queue.
func NewQueue(d *gpu.Device) *Queue {
	return &Queue{joint.NewQueue("metal", func(dispatches []gpu.Dispatch) (end func() error, err error) {
		w, err := d.Submit(nil, nil, dispatches...)
		return func() error { return w.Wait(context.Background()) }, err
	})}
}

// Execute runs the dispatches on the GPU once every wait is reached, and then signals. Execute does not wait: the
// signals tell the outcome. They fail if a wait fails, if the GPU refuses or fails the work (errors of unimem/metal),
// or if ctx ends first. Work that the GPU has begun then continues: its Buffers stay in use, and Close waits for it.
// Without dispatches the waits are passed on to the signals.
//
// The GPU runs submissions in the order in which their waits are reached. The error is ErrClosed, or matches
// hal.ErrClosed for a Point without a Semaphore.
func (q *Queue) Execute(ctx context.Context, waits, signals []hal.Point, dispatches ...gpu.Dispatch) error {
	if q == nil {
		return ErrClosed
	}
	return q.queue.Execute(ctx, waits, signals, dispatches)
}

// Close refuses new work, fails what has not begun on the GPU with ErrClosed, and waits until the GPU has ended the
// rest. If ctx ends first Close returns its error; a later Close goes on. Repeating it returns nil.
func (q *Queue) Close(ctx context.Context) error {
	if q == nil {
		return nil
	}
	return q.queue.Close(ctx)
}
