package apple

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// Waits for a program slot. All processes of a machine share its slots, 115 to 127 for small programs. On an M5 Max those
// of a process that ended were free at the first retry.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 3200 * time.Millisecond
)

// inSlot calls f, which loads a program. If all slots of the machine are taken, it retries after waits that double from
// 0.1 s to 3.2 s. It does not if ctx ends before or asks the engine to fail fast.
func (e *Engine) inSlot(ctx context.Context, f func() error) error {
	err := e.spared(f)
	for wait := firstWait; wait <= lastWait && crowded(err) && !ane.FailsFast(ctx); wait *= 2 {
		if !e.cfg.Pause(ctx, wait) {
			break
		}
		e.errors.recovered(err)
		err = e.spared(f)
	}
	return err
}

// crowded reports whether the framework had no program slot for a load.
func crowded(err error) bool {
	var b *objcbridge.Error
	return errors.Is(err, ane.ErrExhausted) && errors.As(err, &b) && noSlot(b)
}

// noSlot reports the same for an error of the framework.
func noSlot(b *objcbridge.Error) bool {
	return b.Kind == objcbridge.KindNSError && b.Stage == objcbridge.StageLoad &&
		(b.Code == codeNoPlace || b.HasStatus && b.DriverStatus() == driverabi.StatusNoResources)
}

// Pause sleeps for d. It returns false, at once if it can tell, if ctx ends before.
func Pause(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
