package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCasesAndConstantsAreAdded(t *testing.T) {
	const src = `package p

const two = 1 + 1

func f(n int) int {
	switch {
	case n > 0,
		n < -1:
		return two
	default:
		return 0
	}
}

func never(n int) {
	switch n {
	case two:
	}
}
`
	got, err := uncounted([]byte(src), []block{
		{place{5, 19}, place{6, 9}, 1, 3}, {place{7, 12}, place{9, 13}, 1, 2}, {place{15, 19}, place{16, 11}, 1, 0},
	})
	require.NoError(t, err)
	require.Equal(t, []block{
		{place{3, 1}, place{3, 18}, 1, 1},   // the constant
		{place{7, 7}, place{8, 9}, 1, 3},    // as often as f
		{place{17, 7}, place{17, 10}, 1, 0}, // never ran
	}, got)
}

// The profile of this package gets lines and stays one.
func TestAProfileIsCompleted(t *testing.T) {
	const name = "github.com/anekit/anekit/internal/casecover/profile.go"
	profile := filepath.Join(t.TempDir(), "profile")
	line := "mode: set\n" + name + ":1.1,2.2 1 1\n"
	require.NoError(t, os.WriteFile(profile, []byte(line), 0o600))
	require.NoError(t, complete(profile))
	text, err := os.ReadFile(profile)
	require.NoError(t, err)
	require.Greater(t, len(text), len(line))
	require.Contains(t, string(text), line)
	require.NoError(t, complete(profile), "its own lines are lines of a profile")

	require.NoError(t, os.WriteFile(profile, []byte("mode: set\nnonsense\n"), 0o600))
	require.Error(t, complete(profile))
	require.ErrorIs(t, complete(profile+"x"), os.ErrNotExist)
}
