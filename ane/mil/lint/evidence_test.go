package lint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// negative are words of sentences that say that something does not run, or not right.
var negative = regexp.MustCompile(`(?i)\b(no|not|never|only|none|nor|neither|refuses?|fails?|failed|dies|wrong|ignores?|` +
	`cpu|infinite|lost|slow)\b`)

// Each sentence of a rule that says what does not run has its sources, with the degree of their evidence, the compilers
// by which they found it and the chips on which they did. The fields are all written: one that is forgotten is empty.
func TestClaimsHaveEvidence(t *testing.T) {
	var data []struct {
		Rule
		Evidence, Against []evidence
	}
	require.NoError(t, json.Unmarshal(ruleTexts, &data))
	claims := 0
	for _, r := range data {
		if r.Severity >= Warning || negative.MatchString(r.Title+" "+r.Reason) {
			claims++
			require.NotEmpty(t, r.Evidence, r.ID)
		}
		for _, e := range slices.Concat(r.Evidence, r.Against) {
			require.NotEmpty(t, e.Source, r.ID)
			require.NotEmpty(t, degrees[e.Degree], "%s: %s", r.ID, e.Source)
			if e.Chips != "any" && e.Chips != "unknown" {
				_, err := chip.ParseList(e.Chips)
				require.NoError(t, err, "%s: %s", r.ID, e.Source)
			}
			for by := range strings.SplitSeq(e.Roads, ",") {
				if _, err := chip.ParseCompiler(by); by != "all" {
					require.NoError(t, err, "%s: %s", r.ID, e.Source)
				}
			}
			measured := e.Degree == "M" || e.Degree == "C"
			require.False(t, measured && e.Chips == "any", "%s: %s was measured on some chip", r.ID, e.Source)
			require.Contains(t, byID(r.ID).Source, e.String(), r.ID)
		}
		for _, e := range r.Against {
			require.NotEmpty(t, e.Says, "%s: what disagrees", r.ID)
		}
	}
	require.Greater(t, claims, 80)
}

// A finding that a published program or an answer disagrees with is a note that says so; on other chips it stays.
func TestDisputedClaims(t *testing.T) {
	for _, rule := range table() {
		for _, e := range rule.against {
			for _, on := range chip.All() {
				for _, by := range chip.Compilers() {
					r := newRun("p", Options{Chips: []chip.Chip{on}, Compilers: []chip.Compiler{by}})
					c := &check{run: r, rule: rule, compiler: by, chips: r.Chips}
					c.error(mil.Pos{}, "", "it fails")
					found := r.found.findings()[0]
					if rule.disputed(by, on) == nil {
						require.Equal(t, Error, found.Severity, rule.ID)
						require.Equal(t, "it fails", found.Message)
						continue
					}
					require.Equal(t, Note, found.Severity, rule.ID)
					require.Contains(t, found.Message, "it fails; but ")
					require.NotEmpty(t, e.Says)
				}
			}
		}
	}
}
