// Package await has tests wait for conditions instead of for times.
package await

import (
	"testing"
	"time"
)

// Patience is the end of every wait. Only a hang reaches it, on however busy a machine.
const Patience = 3 * time.Minute

// tick is the time between two looks at a condition.
const tick = time.Millisecond

// Poll looks at a condition until it holds. It reports false when Patience is over.
func Poll(holds func() bool) bool {
	for end := time.Now().Add(Patience); !holds(); time.Sleep(tick) {
		if time.Now().After(end) {
			return holds()
		}
	}
	return true
}

// Until polls a condition and fails the test with what when it never holds.
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	if !Poll(holds) {
		tb.Fatalf("waited %v in vain: %s", Patience, what)
	}
}

// Value receives one value and fails the test when none comes.
func Value[T any](tb testing.TB, from <-chan T) T {
	tb.Helper()
	end := time.NewTimer(Patience)
	defer end.Stop()
	select {
	case v := <-from:
		return v
	case <-end.C:
		tb.Fatalf("waited %v in vain for a value", Patience)
	}
	return *new(T) // Fatalf does not return
}

// Done returns what f returns and fails the test when f does not return.
func Done[T any](tb testing.TB, f func() T) T {
	tb.Helper()
	out := make(chan T, 1)
	go func() { out <- f() }()
	return Value(tb, out)
}

// Left lists what remains of something that other goroutines give back, once nothing
// remains or Patience is over.
func Left(list func() []string) (left []string) {
	Poll(func() bool {
		left = list()
		return len(left) == 0
	})
	return left
}
