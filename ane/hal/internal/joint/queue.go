package joint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane/hal"
)

// ErrClosed is the error of a closed or nil Queue.
var ErrClosed = fmt.Errorf("the bridge to the GPU is %w", hal.ErrClosed)

// Queue starts work of a GPU, of commands of type C, in the order of hal's timelines. A nil Queue is closed.
type Queue[C any] struct {
	bridge string
	begin  func([]C) (end func() error, err error)
	ctx    context.Context // ends with Close
	stop   context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// NewQueue makes a Queue for the bridge of a name. begin gives commands to the GPU, and end waits until it has ended
// them.
func NewQueue[C any](bridge string, begin func([]C) (end func() error, err error)) *Queue[C] {
	q := &Queue[C]{bridge: bridge, begin: begin}
	q.ctx, q.stop = context.WithCancelCause(context.Background())
	return q
}

// Execute is Execute of a bridge's Queue.
func (q *Queue[C]) Execute(ctx context.Context, waits, signals []hal.Point, commands []C) error {
	if q == nil {
		return ErrClosed
	}
	if err := Check(q.bridge, waits, signals); err != nil {
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
	waits, signals, commands = slices.Clone(waits), slices.Clone(signals), slices.Clone(commands)
	q.running.Go(func() {
		err := q.await(ctx, waits)
		if err != nil || len(commands) == 0 {
			Tell(signals, err)
			return
		}
		end, err := q.begin(commands) // here: nothing begins after its signals have failed
		if err != nil {
			Tell(signals, err)
			return
		}
		ended := make(chan error, 1)
		go func() { ended <- end() }()
		select {
		case err = <-ended:
			Tell(signals, err)
		case <-ctx.Done():
			Tell(signals, context.Cause(ctx))
			<-ended
		}
	})
	return nil
}

// await waits for the points, until ctx or the Queue ends.
func (q *Queue[C]) await(ctx context.Context, waits []hal.Point) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(q.ctx, func() { cancel(context.Cause(q.ctx)) })()
	err := hal.WaitAll(ctx, waits...)
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, ctx.Err())) {
		return cause
	}
	return err
}

// Close is Close of a bridge's Queue.
func (q *Queue[C]) Close(ctx context.Context) error {
	if q == nil {
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
		return ctx.Err()
	}
}
