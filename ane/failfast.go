package ane

import "context"

// failFast is the key of FailFast.
type failFast struct{}

// FailFast returns a context in which an engine does not wait for program slots. If all slots of the machine are taken,
// Compile and Load fail with ErrExhausted at once. It is for callers that can close programs of their own first.
func FailFast(ctx context.Context) context.Context {
	return context.WithValue(given(ctx), failFast{}, true)
}

// FailsFast reports whether ctx is one of FailFast, for engines.
func FailsFast(ctx context.Context) bool { return ctx.Value(failFast{}) != nil }
