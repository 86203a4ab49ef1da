package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

// bench records a step that cannot run. The verdict is fail, unless the engine is not available.
func TestBenchSkips(t *testing.T) {
	b := &run{App: &cli.App{Out: io.Discard, Err: io.Discard}, bar: &cli.Progress{}}
	skip := func(ctx context.Context, step string, why error) error {
		_, err := trial.Step{Run: func(t *trial.T) { b.skip(t, step, why) }}.Make(ctx)
		return err
	}
	require.NoError(t, skip(t.Context(), "evaluate", fmt.Errorf("open: %w", ane.ErrUnavailable)))
	require.Empty(t, b.failed)
	require.NoError(t, skip(t.Context(), "write", errors.New("no memory")))
	require.Equal(t, []string{"write"}, b.failed)
	require.Len(t, b.found.Skipped, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, skip(ctx, "x", errors.New("any")), context.Canceled)
}

// still is a case that takes as long as its floor.
func still(name string, mostNs float64, open func()) measure.Case {
	return measure.Case{Name: name, What: name, MaxNs: mostNs,
		Open: func(*step.T) measure.Loop {
			open()
			return func(int) error { return nil }
		}}
}

// bench prints each row before it measures the next one.
func TestBenchPrintsAsItGoes(t *testing.T) {
	var out, errw bytes.Buffer
	a := cli.New(alone, []string{"bench"}, &out, &errw)
	b := &run{App: a, bar: &cli.Progress{}, plan: Plan{Rounds: 1, Cases: []measure.Case{
		still("one", 1e18, func() { require.Empty(t, out.String()) }),
		still("two", 1e18, func() { require.Regexp(t, `^Operation .*\none +[^\n]*\n$`, out.String()) }),
	}}}
	_, err := trial.Step{Run: b.memory}.Make(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `^Operation .*\none +[^\n]*\ntwo +[^\n]*\n\n`, out.String())
}

// A missed target is no failed check: the table shows it, the verdict is pass.
func TestBenchMissesWithoutFailing(t *testing.T) {
	checks, err := trial.Step{Run: func(t *trial.T) {
		judge(t, measure.Target{Name: "x/ratio", What: "x", Unit: "x", Value: 3, Rounds: []float64{3}, Most: 2})
	}}.Make(t.Context())
	require.NoError(t, err)
	require.Equal(t, trial.Skip, checks[0].Status)
	require.Equal(t, "x: 3.00x, spread of 1 rounds 0.00x, target 2.00x; missed, as it may be on a busy machine",
		checks[0].Detail)
	require.EqualValues(t, 3, checks[0].Value)
	require.EqualValues(t, 2, *checks[0].Allowed.Max)

	var out, errw bytes.Buffer
	a := cli.New(alone, []string{"bench"}, &out, &errw)
	a.Engine = engine.Soft
	late := still("late", 0, func() {})
	late.MaxRatio = 1e-9
	require.NoError(t, a.Conclude(t.Context(), Run(a, t.Context(), Plan{Cases: []measure.Case{late}, Rounds: 1,
		Time: 1})))
	require.Contains(t, out.String(), "<= 1e-09x: missed")
	require.Contains(t, out.String(), "\nverdict: pass\n")
}

// alone is a command tree with one command.
func alone(a *cli.App) *cobra.Command {
	root := &cobra.Command{Use: "ane-roundtrip"}
	root.AddCommand(Command(a))
	return root
}
