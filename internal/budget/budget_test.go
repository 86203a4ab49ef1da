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
	t.Setenv(budget.Make, "")
	require.True(t, budget.Light())
	require.Equal(t, 100, budget.Measured(100, 8))
	require.Equal(t, 2, budget.Rounds(100, 8))
	require.Equal(t, 1, budget.Rounds(100, 1))
	require.True(t, t.Run("heavy", func(t *testing.T) {
		defer func() { require.True(t, t.Skipped()) }()
		budget.Heavy(t, "seconds")
	}))
	if testing.Short() {
		return
	}
	t.Setenv(budget.Make, "1")
	require.False(t, budget.Light())
	require.Equal(t, 8, budget.Measured(100, 8))
	budget.Heavy(t, "seconds")
	require.Equal(t, 8, budget.Rounds(100, 8))
	t.Setenv(budget.Variable, "1")
	t.Setenv(budget.Make, "")
	require.True(t, budget.Full())
	require.False(t, budget.Light())
	budget.Heavy(t, "seconds")
	require.Equal(t, 100, budget.Rounds(100, 8))
	budget.Skip(t, "a gigabyte")
	require.False(t, t.Skipped())
}

// TestCases: only a full run without the race detector and without an emulator takes every case.
func TestCases(t *testing.T) {
	for _, c := range []struct {
		full, byMake, emulator string
		cases                  int
		every                  bool
	}{
		{"", "", "", 5, false}, {"", "1", "", 25, false}, {"1", "", "", 100, true}, {"1", "1", "", 100, true},
		{"", "1", "qemu", 12, false}, {"1", "1", "qemu", 12, false},
	} {
		if testing.Short() && c.cases > 12 {
			continue
		}
		sampled := c.emulator == "" && c.byMake+c.full != ""
		if budget.Race {
			c.cases, c.every, sampled = 12, false, false
		}
		t.Setenv(budget.Variable, c.full)
		t.Setenv(budget.Make, c.byMake)
		t.Setenv(budget.Emulator, c.emulator)
		require.Equal(t, c.cases, budget.Cases(100), "%+v", c)
		require.Equal(t, c.every, budget.Sample(3, 4), "%+v", c)
		require.True(t, budget.Sample(12, 4))
		require.Equal(t, sampled, budget.Sample(4, 4), "%+v", c)
		require.Equal(t, 2, budget.Cases(2))
	}
}
