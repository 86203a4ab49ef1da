package step_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/step"
)

// A step ends at its first error and closes what it opened, the last one first, with a context that does not end.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	broken, order := errors.New("broken"), ""
	err := step.Run(ctx, func(s *step.T) {
		require.Equal(t, 3, step.Must(3, nil))
		s.Closing(func() error { order += "a"; return errors.New("late") })
		s.Later(func(ctx context.Context) error { order += "b"; return ctx.Err() })
		step.NoError(nil)
		step.Must(4, broken)
		order += "c"
	})
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "late")
	require.NotErrorIs(t, err, context.Canceled)
	require.Equal(t, "ba", order)
	require.PanicsWithValue(t, "other", func() { _ = step.Catch(func() { panic("other") }) })
}
