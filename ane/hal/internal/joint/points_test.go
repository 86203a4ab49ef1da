package joint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
)

// TestCheck: a Semaphore that failed with ErrClosed is one; its failure is told by signals.
func TestCheck(t *testing.T) {
	failed := hal.NewSemaphore(0)
	failed.Fail(hal.ErrClosed)
	fine := []hal.Point{{Semaphore: failed, Value: 1}}
	require.NoError(t, joint.Check("gpu", fine, fine))
	require.NoError(t, joint.Check("gpu", nil, nil))
	for _, s := range []*hal.Semaphore{nil, {}} {
		bad := []hal.Point{{Semaphore: s}}
		require.ErrorIs(t, joint.Check("gpu", fine, bad), hal.ErrClosed)
		require.ErrorIs(t, joint.Check("gpu", bad, nil), hal.ErrClosed)
	}
}

// TestTell: a signal backwards fails its own Semaphore, and the other ones get theirs.
func TestTell(t *testing.T) {
	high, low := hal.NewSemaphore(5), hal.NewSemaphore(0)
	joint.Tell([]hal.Point{{Semaphore: high, Value: 4}, {Semaphore: low, Value: 4}}, nil)
	_, err := high.Value()
	require.ErrorIs(t, err, hal.ErrBackwards)
	v, err := low.Value()
	require.NoError(t, err)
	require.EqualValues(t, 4, v)
	joint.Tell([]hal.Point{{Semaphore: low, Value: 5}}, hal.ErrClosed)
	_, err = low.Value()
	require.ErrorIs(t, err, hal.ErrClosed)
}
