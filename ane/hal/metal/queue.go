package metal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	gpu "github.com/anekit/anekit/unimem/metal"
)

// ErrClosed: a call on a closed, nil or zero Queue or Pair. It matches hal.ErrClosed.
var ErrClosed = fmt.Errorf("the bridge to the GPU is %w", hal.ErrClosed)

// Queue starts work on a GPU in the order of hal's timelines. NewQueue makes one, and its caller closes it. Its methods
// are safe for concurrent use, and no call but Close waits.
type Queue struct {
	submit func(...gpu.Dispatch) (work, error)
	ctx    context.Context // ends with Close
	stop   context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// work is a *gpu.Work.
type work interface {
	Wait(ctx context.Context) error
}

// NewQueue makes a Queue on d, which stays the caller's: close it after the Queue.
func NewQueue(d *gpu.Device) *Queue {
	return newQueue(func(dispatches ...gpu.Dispatch) (work, error) {
		w, err := d.Submit(nil, nil, dispatches...)
		if err != nil {
			return nil, err
		}
		return w, nil
	})
}

func newQueue(submit func(...gpu.Dispatch) (work, error)) *Queue {
	q := &Queue{submit: submit}
	q.ctx, q.stop = context.WithCancelCause(context.Background())
	return q
}

// Execute runs the dispatches on the GPU once every wait is reached, and then signals. Execute does not wait: what
// comes of the work is told by its signals. They fail if a wait fails, if the GPU refuses or fails the work (errors of
// unimem/metal), or if ctx ends first; work that the GPU has begun then goes on, its Buffers stay in use, and Close
// waits for it. Without dispatches the waits are passed on to the signals.
//
// The GPU runs submissions in the order in which their waits are reached. The error is ErrClosed, or matches
// hal.ErrClosed for a Point without a Semaphore.
func (q *Queue) Execute(ctx context.Context, waits, signals []hal.Point, dispatches ...gpu.Dispatch) error {
	if q == nil || q.submit == nil {
		return ErrClosed
	}
	if err := joint.Check("metal", waits, signals); err != nil {
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
	dispatches = append([]gpu.Dispatch{}, dispatches...)
	q.running.Add(1)
	go func() {
		defer q.running.Done()
		begun, err := q.run(ctx, waits, dispatches)
		joint.Tell(signals, err)
		if begun != nil { // abandoned, or ended already
			_ = begun.Wait(context.Background())
		}
	}()
	return nil
}

// run waits, submits and waits for the end. begun is the work, if there is any.
func (q *Queue) run(ctx context.Context, waits []hal.Point, dispatches []gpu.Dispatch) (begun work, err error) {
	before, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.ctx, func() { cancel(context.Cause(q.ctx)) })()
	if err := hal.WaitAll(before, waits...); err != nil {
		if cause := context.Cause(before); cause != nil && errors.Is(err, before.Err()) {
			return nil, cause
		}
		return nil, err
	}
	if len(dispatches) == 0 {
		return nil, nil
	}
	if cause := context.Cause(before); cause != nil {
		return nil, cause
	}
	if begun, err = q.submit(dispatches...); err != nil {
		return nil, err
	}
	if err = begun.Wait(ctx); err != nil && errors.Is(err, ctx.Err()) {
		err = context.Cause(ctx)
	}
	return begun, err
}

// Close refuses new work, fails what has not begun on the GPU with ErrClosed, and waits until the GPU has ended the
// rest. If ctx ends first Close returns its error; a later Close goes on. Repeating it returns nil.
func (q *Queue) Close(ctx context.Context) error {
	if q == nil || q.submit == nil {
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
		return nil
	case <-ctx.Done():
	}
	select {
	case <-ended:
		return nil
	default:
		return ctx.Err()
	}
}
