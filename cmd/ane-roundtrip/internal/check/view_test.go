package check

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// shown is what a terminal shows of a report.
func shown(t *testing.T, r cli.Report, quiet bool) string {
	t.Helper()
	t.Setenv("COLUMNS", "")
	object, err := json.Marshal(r)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, doc.Terminal(&out, object, View(quiet)))
	return out.String()
}

// Where the system does not tell the growth of memory, as macOS does not, the verdict says that it was not measured.
func TestVerdictSaysWhatWasNotMeasured(t *testing.T) {
	for _, c := range []struct {
		checks []trial.Check
		want   string
	}{
		{[]trial.Check{trial.Skipped("gpu/growth", "no"), trial.Skipped("gpu/growth-copy", "no")},
			"0 of 2 checks passed, others cannot run here\n" +
				"verdict: pass, gpu/growth and gpu/growth-copy not measured on this system\n"},
		{[]trial.Check{trial.Skipped("replay/run", "no")},
			"0 of 1 checks passed, others cannot run here\nverdict: pass\n"},
	} {
		r := cli.Report{Checks: c.checks, Verdict: cli.VerdictPass, Details: details{}}
		require.Equal(t, c.want, shown(t, r, true))
	}
}
