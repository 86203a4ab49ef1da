package await

import (
	"context"
	"sync"
	"testing"
	"time"
)

// deadline is a context whose deadline passes when a test ends it.
type deadline struct {
	context.Context
	at   time.Time
	once sync.Once
	done chan struct{}

	mu  sync.Mutex
	err error
}

// Deadline returns a context with a distant deadline, and a function that makes the deadline
// pass at once. So a test can wait until a call has reached some point, and end it there. A
// caller that derives a context from it must call expire, like a cancel function.
func Deadline(parent context.Context) (ctx context.Context, expire func()) {
	d := &deadline{Context: parent, at: time.Now().Add(time.Hour), done: make(chan struct{})}
	stop := context.AfterFunc(parent, func() { d.end(parent.Err()) })
	return d, func() {
		stop()
		d.end(context.DeadlineExceeded)
	}
}

// DeadlineWhen is Deadline for a context whose deadline passes as soon as a condition holds,
// or when the test ends.
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
