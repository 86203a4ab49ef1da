// Package wrap is the common part of engines that wrap another one: it forwards traffic, purge and counters.
package wrap

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
)

// Engine is the wrapped one, with its access.Metered and ane.Keeper if it has them.
type Engine struct{ ane.Engine }

// Traffic implements access.Metered with the counts of the wrapped engine.
func (e Engine) Traffic() (sent, received int64, ok bool) {
	if m, counts := e.Engine.(access.Metered); counts {
		return m.Traffic()
	}
	return 0, 0, false
}

// Purge implements ane.Keeper if the wrapped engine does.
func (e Engine) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Purge(ctx)
	}
	return 0, 0, e.inProcess("purge")
}

// Counters implements ane.Keeper if the wrapped engine does.
func (e Engine) Counters(ctx context.Context) (map[string]uint64, error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Counters(ctx)
	}
	return nil, e.inProcess("counters")
}

func (e Engine) inProcess(op string) error {
	return &ane.Error{Op: op, Engine: e.Info().Name, Err: errors.ErrUnsupported,
		Detail: "the engine is in this process", Hint: "open the broker"}
}
