package vulkan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

// ErrClosed: a call on a closed, nil or zero Queue or Pair. It matches hal.ErrClosed.
var ErrClosed = fmt.Errorf("the bridge to the GPU is %w", hal.ErrClosed)

// Queue starts work on a GPU in the order of hal's timelines. NewQueue makes one, and its caller closes it. Its methods
// are safe for concurrent use, and no call but Close waits.
type Queue struct {
	device *gpu.Device
	done   *gpu.Timeline
	ctx    context.Context // ends with Close
	stop   context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup

	order sync.Mutex // of submissions
	last  uint64     // value of done that the last submission signals
}

// NewQueue makes a Queue on d, which stays the caller's: close it after the Queue. Errors are those of d.NewTimeline.
func NewQueue(d *gpu.Device) (*Queue, error) {
	done, err := d.NewTimeline(0)
	if err != nil {
		return nil, err
	}
	q := &Queue{device: d, done: done}
	q.ctx, q.stop = context.WithCancelCause(context.Background())
	return q, nil
}

// Execute runs the commands on the GPU once every wait is reached, and then signals. Execute does not wait: what
// comes of the work is told by its signals. They fail if a wait fails, if the device refuses the commands (errors of
// unimem/vulkan), or if ctx or the Queue ends first; work that the GPU has begun then still ends, and its Buffers
// stay in use until then. Without commands the waits are passed on to the signals.
//
// The GPU runs submissions in the order in which their waits are reached. The error is ErrClosed.
func (q *Queue) Execute(ctx context.Context, waits, signals []hal.Point, commands ...gpu.Command) error {
	if q == nil || q.device == nil {
		return ErrClosed
	}
	if err := joint.Check("vulkan", waits, signals); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if ctx == nil {
		ctx = context.Background()
	}
	waits, signals = append([]hal.Point{}, waits...), append([]hal.Point{}, signals...)
	commands = append([]gpu.Command{}, commands...)
	q.running.Add(1)
	go func() {
		defer q.running.Done()
		err := q.run(ctx, waits, commands)
		joint.Tell(signals, err)
	}()
	return nil
}

// run waits, submits and waits for the end.
func (q *Queue) run(ctx context.Context, waits []hal.Point, commands []gpu.Command) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.ctx, func() { cancel(context.Cause(q.ctx)) })()
	err := hal.WaitAll(ctx, waits...)
	if err == nil && len(commands) > 0 {
		err = q.submit(ctx, commands)
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		return cause
	}
	return err
}

func (q *Queue) submit(ctx context.Context, commands []gpu.Command) error {
	q.order.Lock() // the values of done grow in the order of the submissions
	q.last++       // also for one that is abandoned, which the driver may run
	v := q.last
	err := q.device.Submit(ctx, nil, []gpu.Point{{Timeline: q.done, Value: v}}, commands...)
	q.order.Unlock()
	if err != nil {
		return err
	}
	return q.done.Wait(ctx, v)
}

// Close refuses new work, fails what has not begun on the GPU with ErrClosed, and waits until the GPU has ended the
// rest. If ctx ends first Close returns its error; a later Close goes on. Repeating it returns nil.
func (q *Queue) Close(ctx context.Context) error {
	if q == nil || q.device == nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.stop(ErrClosed)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		q.running.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		err := q.done.Close()
		if !errors.Is(err, gpu.ErrInUse) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// The GPU runs work whose caller has left. It signals, at the latest, the last value.
		part, cancel := context.WithTimeout(ctx, patience)
		_ = q.done.Wait(part, q.last)
		cancel()
	}
}

// patience is how long Close waits before it looks again: a submission that its caller has abandoned may have failed.
const patience = 20 * time.Millisecond
