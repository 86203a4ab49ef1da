package lint_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/effort"
)

// Any text gives at most MaxFindings findings with sound places and edits, and a fixed text parses.
func FuzzText(f *testing.F) {
	all := cases()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if c := all[name]; len(c.breaks) < 4000 && (i%12 == 0 || effort.Full()) {
			f.Add([]byte(c.breaks))
			f.Add([]byte(c.holds))
		}
	}
	f.Add([]byte("\uFEFFprogram(1.0)\n{func f<ios16>(tensor<fp16, [2147483647, 2147483647]> x) {} -> (x);}"))
	f.Add([]byte("program(1.3)\n{func f<ios18>(tensor<fp16, [1]> x) { tensor<fp16, [1]> y = tile(reps = " +
		"tensor<int32, [1]>([4000000000000]), x = x); } -> (y);}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<16 {
			t.Skip("long texts take long")
		}
		o := lint.Options{Compilers: chip.Compilers(), OS: 14, Ranges: map[string]lint.Range{"x": {-1e5, 1e5}}}
		findings := lint.Text("f.mil", src, o)
		require.LessOrEqual(t, len(findings), lint.MaxFindings)
		lines := bytes.Count(src, []byte("\n")) + 1
		for i := range findings {
			finding := &findings[i]
			require.NotNil(t, finding.Rule)
			require.LessOrEqual(t, finding.Pos.Line, lines)
			require.NotEmpty(t, finding.Message)
			for _, e := range finding.Edits {
				require.True(t, 0 <= e.Start && e.Start <= e.End && e.End <= len(src))
			}
		}
		if _, err := mil.Parse("f.mil", src); err != nil {
			return
		}
		require.Equal(t, findings, lint.Text("f.mil", src, o), "the same text has the same findings")
		fixed, _ := lint.Fix("f.mil", src, o)
		_, err := mil.Parse("f.mil", fixed)
		require.NoError(t, err, "%s", fixed)
		again, _ := lint.Fix("f.mil", fixed, o)
		require.Equal(t, string(fixed), string(again))
	})
}
