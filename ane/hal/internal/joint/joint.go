// Package joint keeps a hal.Semaphore and a timeline of a GPU at the same value, for the bridges to GPUs.
package joint

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/ane/hal"
)

// Timeline is a timeline of a GPU.
type Timeline interface {
	// Signal makes v the value.
	Signal(v uint64) error
	// Next waits for a value above v and returns it.
	Next(ctx context.Context, v uint64) (uint64, error)
	// Close refuses while work of the GPU names the Timeline.
	Close() error
}

// Start has each of s and t, whose values are v, follow the other until the caller calls end, which closes t; a call
// that t refuses may be repeated. backwards is the error of t.Signal for a value below that of t.
func Start(s *hal.Semaphore, t Timeline, v uint64, backwards error) (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { toGPU(ctx, s, t, v, backwards) })
	ended.Go(func() { toHost(ctx, s, t, v) })
	return func() error {
		cancel()
		ended.Wait()
		return t.Close()
	}
}

// toGPU signals t with the values that s reaches.
func toGPU(ctx context.Context, s *hal.Semaphore, t Timeline, v uint64, backwards error) {
	for s.Wait(ctx, v+1) == nil {
		v, _ = s.Value() // a value that was reached before a failure counts
		if err := t.Signal(v); err != nil && !errors.Is(err, backwards) {
			return // toHost tells
		}
	}
}

// toHost signals s with the values that t reaches.
func toHost(ctx context.Context, s *hal.Semaphore, t Timeline, v uint64) {
	for {
		next, err := t.Next(ctx, v)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.Fail(err)
			return
		}
		v = next
		if err := s.Signal(v); err != nil && !errors.Is(err, hal.ErrBackwards) {
			return // it has failed
		}
	}
}

// Check returns the error of Execute of a bridge for a Point without a Semaphore. It matches hal.ErrClosed.
func Check(bridge string, waits, signals []hal.Point) error {
	for _, points := range [][]hal.Point{waits, signals} {
		for _, p := range points {
			if _, err := p.Semaphore.Value(); errors.Is(err, hal.ErrClosed) && !errors.Is(err, hal.ErrFailed) {
				return fmt.Errorf("%s: execute: a point without a semaphore: %w", bridge, err)
			}
		}
	}
	return nil
}

// Tell signals points, or fails them with err. A refused signal fails its Semaphore, and no other.
func Tell(signals []hal.Point, err error) {
	for _, p := range signals {
		cause := err
		if cause == nil {
			cause = p.Semaphore.Signal(p.Value)
		}
		if cause != nil {
			p.Semaphore.Fail(cause)
		}
	}
}
