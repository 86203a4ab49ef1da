package enginetest

import "time"

// Settle is the time limit for goroutines to end.
func Settle(d time.Duration) Option { return func(c *config) { c.settle = d } }
