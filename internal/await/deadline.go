package await

import (
	"context"
	"sync"
	"testing"
	"time"
)

// deadline is a context whose deadline passes when a test says so.
type deadline struct {
	context.Context
	at   time.Time
	once sync.Once
	done chan struct{}

	mu  sync.Mutex
	err error
}

// Deadline returns a context with a deadline far away and the function that has it pass at
// once. A test that has the deadline pass in the middle of a call waits until the call is
// there, however long that takes. Whoever derives another context from it calls expire in
// the end, as with a cancel function.
func Deadline(parent context.Context) (ctx context.Context, expire func()) {
	d := &deadline{Context: parent, at: time.Now().Add(time.Hour), done: make(chan struct{})}
	stop := context.AfterFunc(parent, func() { d.end(parent.Err()) })
	return d, func() {
		stop()
		d.end(context.DeadlineExceeded)
	}
}

// DeadlineWhen is Deadline for a context whose deadline passes as soon as a condition
// holds, or with the test.
func DeadlineWhen(tb testing.TB, parent context.Context, holds func() bool) context.Context {
	ctx, expire := Deadline(parent)
	var polling sync.WaitGroup
	over := make(chan struct{})
	polling.Go(func() {
		defer expire()
		Poll(func() bool {
			select {
			case <-over:
				return true
			default:
				return holds()
			}
		})
	})
	tb.Cleanup(func() {
		close(over)
		polling.Wait()
	})
	return ctx
}

func (d *deadline) end(err error) {
	d.once.Do(func() {
		d.mu.Lock()
		d.err = err
		d.mu.Unlock()
		close(d.done)
	})
}

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

func (d *deadline) Done() <-chan struct{} { return d.done }

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
