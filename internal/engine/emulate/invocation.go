package emulate

import (
	"context"

	"github.com/anekit/anekit/internal/engine/wrap"
)

// invocation fails when a program has spoiled the process.
type invocation struct {
	wrap.Invocation
	engine *engine
}

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
	if v.engine.host.spoiled() {
		return v.engine.evaluateError("evaluate")
	}
	return v.Invocation.Evaluate(ctx)
}
