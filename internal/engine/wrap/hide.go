package wrap

import (
	"context"

	"github.com/anekit/anekit/ane"
)

// Hide returns an engine that works like e and shows no view of its memory, as Apple's. It owns e. Tests use it.
func Hide(e ane.Engine) ane.Engine { return hiding{Engine{e}} }

type hiding struct{ Engine }

// Compile implements ane.Engine.
func (h hiding) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := h.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return hidingExecutable{x}, nil
}

type hidingExecutable struct{ ane.Executable }

// Prepare implements ane.Executable.
func (x hidingExecutable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	return struct{ ane.Invocation }{v}, nil
}
