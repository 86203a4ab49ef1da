package budget_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/budget"
)

func TestBudget(t *testing.T) {
	t.Setenv(budget.Variable, "")
	require.False(t, budget.Full())
	skipped := t.Run("small", func(t *testing.T) {
		defer func() { require.True(t, t.Skipped()) }()
		budget.Skip(t, "a gigabyte")
	})
	require.True(t, skipped)
	if testing.Short() {
		require.Equal(t, 2, budget.Rounds(100, 8))
		require.Equal(t, 1, budget.Rounds(100, 1))
		return
	}
	require.Equal(t, 8, budget.Rounds(100, 8))
	t.Setenv(budget.Variable, "1")
	require.True(t, budget.Full())
	require.Equal(t, 100, budget.Rounds(100, 8))
	budget.Skip(t, "a gigabyte")
	require.False(t, t.Skipped())
}
