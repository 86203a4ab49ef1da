package check

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

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
		var out, errw bytes.Buffer
		run := &CheckRun{App: cli.New(alone, []string{"check"}, &out, &errw), quiet: true,
			report: cli.Report{Checks: c.checks, Verdict: cli.VerdictPass}}
		require.NoError(t, run.print(nil))
		require.Equal(t, c.want, out.String())
	}
}

// alone is a command tree with one command.
func alone(a *cli.App) *cobra.Command {
	root := &cobra.Command{Use: "ane-roundtrip"}
	root.AddCommand(Command(a))
	return root
}
