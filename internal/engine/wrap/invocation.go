package wrap

import (
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
)

// Invocation is the wrapped one, with its access.Viewer, access.Peer and ane.Prioritizer if it has them.
type Invocation struct {
	ane.Invocation
	Engine string // its name, for errors
}

// InputView implements access.Viewer. It returns nil if the wrapped engine has no views.
func (v Invocation) InputView(i int) []byte {
	if w, ok := v.Invocation.(access.Viewer); ok {
		return w.InputView(i)
	}
	return nil
}

// OutputView implements access.Viewer like InputView.
func (v Invocation) OutputView(i int) []byte {
	if w, ok := v.Invocation.(access.Viewer); ok {
		return w.OutputView(i)
	}
	return nil
}

// Peer implements access.Peer. The process is 0 if the wrapped engine is in this one.
func (v Invocation) Peer() (pid int, inputs, outputs []uintptr) {
	if w, ok := v.Invocation.(access.Peer); ok {
		return w.Peer()
	}
	return 0, nil, nil
}

// SetQoS implements ane.Prioritizer if the wrapped engine does.
func (v Invocation) SetQoS(q ane.QoS) error {
	if p, ok := v.Invocation.(ane.Prioritizer); ok {
		return p.SetQoS(q)
	}
	return &ane.Error{Op: "qos", Engine: v.Engine, Err: errors.ErrUnsupported, Detail: "the engine has no priorities",
		Hint: "do not call SetQoS on this engine"}
}
