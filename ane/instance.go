package ane

import (
	"context"
	"errors"
)

// Instancer is an Executable that can make an Executable of the same program with other
// weights, without compiling it again.
type Instancer interface {
	// NewInstance returns an Executable with other weights: each file of weights
	// replaces the file of the same path; for a path whose error matches
	// fs.ErrNotExist the receiver's file is used. Like Load, it is called one at a
	// time. The receiver may be closed before the instance.
	NewInstance(ctx context.Context, weights Weights) (Executable, error)
}

// WithWeights makes a Model of the same program with other weights, without compiling it
// again. Each file of weights replaces the file of the same path; for a path whose error
// matches fs.ErrNotExist the new Model uses the file of m. The new Model is not loaded and
// has its own requests. The caller closes it, before or after m. m does not change, and
// may itself be the result of WithWeights.
//
// A file has to pass the checks of Compile; otherwise the error matches ErrCompile and has
// every fault with its place. The error matches ErrMismatch if a constant that determines
// the program, such as an axis, has changed; errors.ErrUnsupported if the engine makes no
// instances; ErrDenied if the engine's broker does not allow them.
func (m *Model) WithWeights(ctx context.Context, weights Weights) (*Model, error) {
	m = m.orZero()
	ctx = given(ctx)
	if err := m.begin(ctx, "instance"); err != nil {
		return nil, err
	}
	defer m.end()
	if err := ctx.Err(); err != nil {
		return nil, Deadline("instance", m.engine(), err)
	}
	if weights == nil {
		weights = Files{}
	}
	if err := m.device.hold("instance"); err != nil {
		return nil, err
	}
	exec, err := instanceOf(ctx, m, weights)
	return m.device.model("instance", exec, err)
}

func instanceOf(ctx context.Context, m *Model, weights Weights) (Executable, error) {
	own, ok := m.exec.(Instancer)
	if !ok {
		return nil, m.fail("instance", errors.ErrUnsupported, "the engine makes no instances",
			"compile the program with these weights")
	}
	return own.NewInstance(ctx, weights)
}
