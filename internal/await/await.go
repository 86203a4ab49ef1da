// Package await makes tests wait for conditions instead of durations.
package await

import (
	"testing"
	"time"
)

// Patience is the time limit of every wait. Even on a busy machine only a hang reaches it.
const Patience = 3 * time.Minute

// tick is the polling interval.
const tick = time.Millisecond

// Poll polls a condition until it holds. It returns false after Patience.
func Poll(holds func() bool) bool {
	for end := time.Now().Add(Patience); !holds(); time.Sleep(tick) {
		if time.Now().After(end) {
			return holds()
		}
	}
	return true
}

// Until polls a condition and fails the test with what if it does not hold in time.
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	if !Poll(holds) {
		tb.Fatalf("not true after %v: %s", Patience, what)
	}
}

// Value receives one value and fails the test if none arrives in time.
func Value[T any](tb testing.TB, from <-chan T) T {
	tb.Helper()
	end := time.NewTimer(Patience)
	defer end.Stop()
	select {
	case v := <-from:
		return v
	case <-end.C:
		tb.Fatalf("no value after %v", Patience)
	}
	return *new(T) // Fatalf does not return
}

// Done returns the result of f and fails the test if f does not return in time.
func Done[T any](tb testing.TB, f func() T) T {
	tb.Helper()
	out := make(chan T, 1)
	go func() { out <- f() }()
	return Value(tb, out)
}

// Left polls list, which names resources that other goroutines release, until it is empty or
// Patience is over. It returns the last list.
func Left(list func() []string) (left []string) {
	Poll(func() bool {
		left = list()
		return len(left) == 0
	})
	return left
}
