package joint_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
)

var errBackwards = errors.New("backwards")

// value is a Timeline that is a hal.Semaphore.
type value struct {
	*hal.Semaphore
	inUse error
}

func (v *value) Next(ctx context.Context, n uint64) (uint64, error) {
	if err := v.Wait(ctx, n+1); err != nil {
		return n, err
	}
	n, _ = v.Value()
	return n, nil
}

func (v *value) Signal(n uint64) error {
	err := v.Semaphore.Signal(n)
	if errors.Is(err, hal.ErrBackwards) {
		return errBackwards
	}
	return err
}

func (v *value) Close() error {
	return v.inUse
}

func TestStart(t *testing.T) {
	s, e := hal.NewSemaphore(3), &value{Semaphore: hal.NewSemaphore(3)}
	end := joint.Start(s, e, 3, errBackwards)
	require.NoError(t, s.Signal(5))
	require.NoError(t, e.Wait(t.Context(), 5), "the host's value reaches the GPU")
	require.NoError(t, e.Signal(9))
	require.NoError(t, s.Wait(t.Context(), 9), "the GPU's value reaches the host")
	e.inUse = hal.ErrInUse
	require.ErrorIs(t, end(), hal.ErrInUse)
	e.inUse = nil
	require.NoError(t, end())
	require.NoError(t, s.Signal(11), "the semaphore stays the caller's")
}

func TestStartOnALostGPU(t *testing.T) {
	s, e := hal.NewSemaphore(0), &value{Semaphore: hal.NewSemaphore(0)}
	end := joint.Start(s, e, 0, errBackwards)
	lost := errors.New("the GPU is lost")
	e.Fail(lost)
	require.ErrorIs(t, s.Wait(t.Context(), 1), lost)
	require.NoError(t, end())
}
