package broker

import (
	"context"

	"github.com/anekit/anekit/ane"
)

// Open starts a private broker, or connects to the shared one of o.Path. The
// error matches ane.ErrUnavailable and says why and what to do.
func Open(ctx context.Context, o Options) (ane.Engine, error) {
	return nil, &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable}
}

// Counts returns the counters of an Engine that Open returned; ok is false for
// any other engine.
func Counts(e ane.Engine) (c Counters, ok bool) { return Counters{}, false }

// DefaultPath is where a shared broker listens unless told otherwise.
func DefaultPath() string { return "" }
