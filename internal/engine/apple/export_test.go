package apple

// AbandonedCalls is the number of abandoned calls of this process.
func AbandonedCalls() int64 { return process.abandoned.Load() }
