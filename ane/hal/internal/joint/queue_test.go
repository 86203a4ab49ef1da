package joint_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
)

// A context that ends while work begins fails the signals after that: nothing writes to Buffers that began after its
// caller was told of a failure.
func TestNothingBeginsAfterItsSignalsFailed(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		s, end := hal.NewSemaphore(0), make(chan struct{})
		var early error
		q := joint.NewQueue("test", func([]int) (func() error, error) {
			cancel()
			for range 100 {
				runtime.Gosched()
			}
			_, early = s.Value()
			return func() error { <-end; return nil }, nil
		})
		require.NoError(t, q.Execute(ctx, nil, []hal.Point{{Semaphore: s, Value: 1}}, []int{1}))
		require.ErrorIs(t, s.Wait(context.Background(), 1), context.Canceled)
		close(end)
		require.NoError(t, q.Close(context.Background()))
		require.NoError(t, early)
	}
}
