package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// life is the context of one request after another: it is made once, so that a request
// costs no memory, and replaced when it has ended.
type life struct {
	request  *request    // does not change
	over     atomic.Bool // cause is there
	mu       sync.Mutex
	done     chan struct{} // made by the first Done
	cause    error
	deadline time.Time
}

// Deadline implements context.Context.
func (l *life) Deadline() (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline, !l.deadline.IsZero()
}

// Done implements context.Context.
func (l *life) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done == nil {
		l.done = make(chan struct{})
		if l.cause != nil {
			close(l.done)
		}
	}
	return l.done
}

// Err implements context.Context.
func (l *life) Err() error {
	if !l.over.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Value implements context.Context.
func (l *life) Value(any) any { return nil }

// end ends it; the first cause counts.
func (l *life) end(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.cause = cause
		l.over.Store(true)
		if l.done != nil {
			close(l.done)
		}
	}
}

// begin starts the next request with it.
func (l *life) begin(deadline time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = deadline
}

var _ context.Context = (*life)(nil)
