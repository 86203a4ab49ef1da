package ops_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// A literal with numbers that become infinite and others that become zero has a note on each.
func TestNumbersOutOfRangeAtBothEnds(t *testing.T) {
	p, err := mil.Parse("r.mil", []byte("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> x) {\n        "+
		"tensor<fp16, [4]> y = add(x = x, y = tensor<fp16, [4]>([1e-12, 70000, 0, 2e-12]));\n    } -> (y);\n}\n"))
	require.NoError(t, err)
	g, err := ops.Analyze("r.mil", p, "", nil)
	require.NoError(t, err)
	require.Equal(t, []string{
		"r.mil:4:46: fp16(70000) is beyond the range of its type and becomes infinite; write inf if that is meant",
		"r.mil:4:46: fp16(1e-12) is too small for its type and becomes 0, like 1 more; use a type of " +
			"larger range",
	}, g.Notes)
	require.Equal(t, g.Notes, ops.RangeNotes("r.mil", p))
}

// Numbers out of the range of their type give notes, not faults.
func TestNumbersOutOfRange(t *testing.T) {
	for literal, want := range map[string]string{
		"fp16(70000)": "r.mil:5:32: fp16(70000) is beyond the range of its type and " +
			"becomes infinite; write inf if that is meant",
		"fp16(-1e9)": "r.mil:5:32: fp16(-1e+09) is beyond",
		"fp16(1e-12)": "r.mil:5:32: fp16(1e-12) is too small for its type and becomes 0; " +
			"use a type of larger range",
		"tensor<fp16, [3]>([1, 70000, 80000])": "fp16(70000) is beyond the range of its type and becomes infinite, " +
			"like 1 more",
		"fp16(65504)": "",
		"fp16(inf)":   "",
		"fp16(0)":     "",
	} {
		of, _, _ := strings.Cut(literal, "(")
		p, err := mil.Parse("r.mil", []byte("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> x) {\n        "+
			"tensor<fp16, [4]> y = relu(x = x);\n        "+of+" c = const()[val = "+literal+"];\n    } -> (y);\n}\n"))
		require.NoError(t, err, literal)
		g, err := ops.Analyze("r.mil", p, "", nil)
		require.NoError(t, err, literal)
		if want == "" {
			require.Empty(t, g.Notes, literal)
			require.Empty(t, ops.RangeNotes("r.mil", p), literal)
			continue
		}
		require.Len(t, g.Notes, 1, literal)
		require.Contains(t, g.Notes[0], want, literal)
		require.Equal(t, g.Notes, ops.RangeNotes("r.mil", p), literal)
	}
}
