package apple

import (
	"errors"
	"maps"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Public reports describe processes in which IOSurfaceCreate or mapping fails for a while
// after hundreds of successful runs. So shed can close the requests and surface wrappers
// of idle invocations at any time. The next run makes both again.

// shed closes what no run uses and returns the number of surfaces released. It waits for
// no lock.
func (e *Engine) shed() (surfaces int) {
	e.idle.Range(func(v, _ any) bool { v.(*invocation).shed(); return true })
	return e.surfaces.shed()
}

// shed closes the request and its surfaces unless a run or a caller uses them.
func (v *invocation) shed() {
	if !v.mu.TryLock() {
		return
	}
	defer v.mu.Unlock()
	if !v.inFlight && !v.closed && !v.viewed {
		v.closeRequest()
	}
}

// shed closes the wrappers that no invocation has bound.
func (s *surfaces) shed() (n int) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, f := range all {
		if !f.making.TryLock() {
			continue // another goroutine wraps or closes it
		}
		if f.made && f.users == 0 && f.closeLocked() == nil {
			n++
		}
		f.making.Unlock()
	}
	return n
}

// spared calls f. If f fails for lack of memory or surfaces, spared releases those of idle invocations and retries
// once. It retries even with none: other processes free memory too. For lack of program slots it does so only if it has
// released something; inSlot waits for other processes.
func (e *Engine) spared(f func() error) error {
	err := f()
	if err != nil && exhausted(err) && (e.shed() > 0 || !crowded(err)) {
		e.errors.recovered(err)
		err = f()
	}
	return err
}

// exhausted reports whether the framework or the system failed for lack of memory or
// surfaces.
func exhausted(err error) bool {
	var b *objcbridge.Error
	return errors.Is(err, unimem.ErrExhausted) ||
		errors.Is(err, ane.ErrExhausted) && errors.As(err, &b) && b.Kind == objcbridge.KindNSError
}

// cancelled reports whether the engine cancelled a run that can be retried: a power transition takes 8 to 15 ms.
func cancelled(err error) bool {
	var b *objcbridge.Error
	return errors.Is(err, ane.ErrCancelled) && errors.As(err, &b) &&
		(b.HasStatus && b.Status == driverabi.StatusCancelled || b.Code == codePower)
}
