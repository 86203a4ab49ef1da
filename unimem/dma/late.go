package dma

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// grace is the time that a Driver has to return after its context ends.
	grace = time.Second
	// maxLate is how many calls of a driver may be late. Each keeps a thread, and its Block.
	maxLate = 16
)

// late counts the calls that run although their callers have given up.
type late struct{ n atomic.Int32 }

// begin returns an error if a call must not begin: its context has ended, or too many calls are late.
func (l *late) begin(ctx context.Context) error {
	if n := l.n.Load(); n >= maxLate {
		return fmt.Errorf("%w: %d calls of the driver have not returned", ErrRefused, n)
	}
	return context.Cause(ctx)
}

// waitFor returns the result of f, which no context ends. If ctx ends first, waitFor returns its cause, and the call
// counts as late until f returns. If f then succeeds, undo gets its value.
func waitFor[T any](ctx context.Context, l *late, f func() (T, error), undo func(T)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		v, err := f()
		results <- result{v, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
	}
	l.n.Add(1)
	go func() {
		defer l.n.Add(-1)
		if r := <-results; r.err == nil {
			undo(r.value)
		}
	}()
	return value, context.Cause(ctx)
}
