package ane

import (
	"context"
	"errors"
)

// Instancer is an Executable that makes others of the same program with other weights,
// without compiling it again.
type Instancer interface {
	// NewInstance returns an Executable that differs in its weights: a file takes the
	// place of the one of the same name, and where weights answers an error matching
	// fs.ErrNotExist the receiver's file stays. It is called as Load is, one at a time.
	// The receiver may be closed before the instance.
	NewInstance(ctx context.Context, weights Weights) (Executable, error)
}

// WithWeights makes a Model of the same program with other weights, without compiling it
// again: a file takes the place of the one of the same name, and where weights answers an
// error matching fs.ErrNotExist, the weights of m stay. The new Model is one like every
// other: it is not loaded, has requests of its own, and the caller closes it, before or
// after m. m may be such an instance itself, and keeps its weights.
//
// A file has to pass what Compile checks; otherwise the error matches ErrCompile and tells
// every fault with its place. It matches ErrMismatch where a constant decides about the
// program itself, such as an axis, and has changed; errors.ErrUnsupported where the engine
// makes no instances; ErrDenied where the engine's broker does not allow them.
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
		return nil, m.fail("instance", errors.ErrUnsupported, "the engine makes no instances", "compile the program with these weights")
	}
	return own.NewInstance(ctx, weights)
}
