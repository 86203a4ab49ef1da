package apple

import "time"

// AbandonedCalls is the number of abandoned calls of this process.
func AbandonedCalls() int64 { return process.abandoned.Load() }

// SetPatience changes Config.Patience of an engine that no other goroutine uses at the moment.
func (e *Engine) SetPatience(d time.Duration) { e.cfg.Patience = d }

// Users counts the executables that are not yet released.
func (e *Engine) Users() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.users
}

// Shed releases what idle invocations have, as a lack of memory does.
func (e *Engine) Shed() int { return e.shed() }

// Relocks reports whether the engine unlocks surfaces while a request runs.
func (e *Engine) Relocks() bool { return e.relock }
