package joint

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/hal"
)

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
