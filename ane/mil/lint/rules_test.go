package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
)

// of returns the findings of one rule.
func of(findings []lint.Finding, id string) (some []lint.Finding) {
	for _, f := range findings {
		if f.Rule.ID == id {
			some = append(some, f)
		}
	}
	return some
}

// Each rule has a program that breaks it and one that barely does not.
func TestRules(t *testing.T) {
	all := cases()
	for _, rule := range lint.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			c, ok := all[rule.ID]
			require.True(t, ok, "the rule has no programs in cases_test.go")
			found := of(lint.Text("p.mil", []byte(c.breaks), c.o), rule.ID)
			require.NotEmpty(t, found, c.breaks)
			want := rule.Severity
			if c.severity != 0 {
				want = c.severity
			}
			require.Equal(t, want, lint.Worst(found), "%v", found)
			for _, f := range found {
				require.NotEmpty(t, f.Message)
				require.NotEmpty(t, f.Fix)
				if rule.ID != "many" {
					require.True(t, f.Pos.Known(), "%v has no place", f)
					require.NotEmpty(t, f.Chips)
					require.NotEmpty(t, f.Compilers)
				}
			}
			o := c.o
			if c.oHolds != nil {
				o = *c.oHolds
			}
			require.Empty(t, of(lint.Text("p.mil", []byte(c.holds), o), rule.ID), c.holds)
			if rule.ID != "syntax" {
				_, err := mil.Parse("p.mil", []byte(c.breaks))
				require.NoError(t, err)
			}
			_, err := mil.Parse("p.mil", []byte(c.holds))
			require.NoError(t, err)
		})
	}
	for id := range all {
		_, err := lint.Lookup(id)
		require.NoError(t, err, "programs of a rule that does not exist")
	}
}

// reduce_log_sum_exp ends where it was measured to end, on each chip; without a range nothing is known.
func TestLogSumExpEnds(t *testing.T) {
	text := []byte(op(t16(1, 64, 32), t16(1, 64), "reduce_log_sum_exp(axes = "+vec(2)+", keep_dims = bool(false), x = x)"))
	require.NotEmpty(t, of(lint.Text("p.mil", text, ranged(-9, 7.6328)), "softplus-zero"))
	require.Empty(t, of(lint.Text("p.mil", text, ranged(-9, 7.6289)), "softplus-zero"))
	require.Empty(t, of(lint.Text("p.mil", text, lint.Options{}), "softplus-zero"))
}

// Operators that the modes of run leave exact are told once, for chips that have a mode.
func TestExactOperatorsAreTold(t *testing.T) {
	text := []byte(one("pow(x = x, y = fp16(3))"))
	found := of(lint.Text("p.mil", text, on(chip.M4)), "table-error")
	require.Len(t, found, 1)
	require.Equal(t, "pow: how the chip computes it is not published; run --numerics computes it exactly", found[0].Message)
	require.Empty(t, of(lint.Text("p.mil", text, on(chip.M3)), "table-error"))
}

// What is said of each rule is complete.
func TestRulesAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range lint.Rules() {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, r.ID)
		require.False(t, seen[r.ID], r.ID)
		seen[r.ID] = true
		require.NotZero(t, r.Severity, r.ID)
		require.Regexp(t, `\.$`, r.Title, r.ID)
		require.Regexp(t, `\.$`, r.Reason, r.ID)
		require.False(t, strings.HasSuffix(r.Fix, "."), r.ID)
		require.NotEmpty(t, r.Fix, r.ID)
		require.NotEmpty(t, r.Source, r.ID)
	}
	require.Greater(t, len(seen), 90)
}

func TestLookupSuggests(t *testing.T) {
	_, err := lint.Lookup("gelu-mod")
	require.ErrorContains(t, err, "did you mean gelu-mode?")
}

// Paths that do not lie in the model's folder, in each form, and paths that do.
func TestPathsThatLeave(t *testing.T) {
	text := cases()["blob-path"].breaks
	const named = "@model_path/../w.bin"
	require.Contains(t, text, named)
	at := func(path string) []byte { return []byte(strings.Replace(text, named, path, 1)) }
	for _, path := range []string{"@model_path//etc/passwd", "@model_path/../w", "@model_path/a/../../w",
		"@model_path/",
		"@model_path", "/etc/passwd", "w.bin", "", `@model_path\\w.bin`, `@model_path/..\\w.bin`} {
		require.Len(t, of(lint.Text("p.mil", at(path), lint.Options{}), "blob-path"), 1, path)
	}
	for _, path := range []string{"@model_path/w.bin", "@model_path/./w.bin", "@model_path/a/b//w.bin",
		"@model_path/..w"} {
		require.Empty(t, of(lint.Text("p.mil", at(path), lint.Options{}), "blob-path"), path)
	}
}
