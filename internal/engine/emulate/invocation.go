package emulate

import (
	"context"

	"github.com/anekit/anekit/ane"
)

// invocation fails when a program has spoiled the process.
type invocation struct {
	ane.Invocation
	engine *engine
}

func (v *invocation) unwrap() ane.Invocation { return v.Invocation }

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
	if v.engine.host.spoiled() {
		return v.engine.evaluateError("evaluate")
	}
	return v.Invocation.Evaluate(ctx)
}

// localInvocation is that of an engine in this process.
type localInvocation struct {
	invocation
	ane.Viewer
}

// remoteInvocation is that of an engine in another process.
type remoteInvocation struct {
	invocation
	ane.Peer
	ane.Prioritizer
}
