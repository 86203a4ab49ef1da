package kernbench_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/soft/kernbench"
	"github.com/anekit/anekit/internal/measure"
)

// Every line of the tables is a case with a name of its own, items and a target.
func TestCasesAreComplete(t *testing.T) {
	for _, all := range [][]measure.Case{kernbench.Kernels(), kernbench.Shapes(), kernbench.Fused(), kernbench.Peers()} {
		seen := map[string]bool{}
		for _, c := range all {
			require.False(t, seen[c.Name], c.Name)
			seen[c.Name] = true
			require.Positive(t, c.Items, c.Name)
			require.Positive(t, c.MaxRatio, c.Name)
		}
	}
	require.Len(t, kernbench.Shapes(), 109)
}
