package enginetest_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/enginetest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) { leaktest.Main(m) }

func newSoft() ane.Engine { return soft.New() }

func TestSoftEngine(t *testing.T) {
	enginetest.Run(t, newSoft, enginetest.Named(soft.Name))
}

func TestSoftEngineWithOffsets(t *testing.T) {
	enginetest.Run(t, func() ane.Engine { return soft.New(soft.AllowOffsets()) }, enginetest.Named(soft.Name),
		enginetest.Only("offsets", "info"))
}

// The wrapper without a fault passes.
func TestHonestWrapper(t *testing.T) {
	require.Empty(t, enginetest.Check(t.Context(), func() ane.Engine { return faulty.Wrap(newSoft(), faulty.Fault{}) }))
}

// caught lists the checks that must detect each fault.
var caught = map[string][]string{
	"claims-apple":       {"info"},
	"claims-offsets":     {"offsets"},
	"copies-at-bind":     {"late-write", "views", "copies-blocks"},
	"copies-inputs":      {"copies-blocks", "copies-memory", "views"},
	"copies-outputs":     {"copies-blocks", "copies-memory", "views"},
	"drops-errors":       {"cancel-noticed"},
	"flushes-subnormals": {"rounding"},
	"hidden-copy":        {"copies-blocks", "copies-memory", "views"},
	"ignores-cancel":     {"cancel-noticed", "deadline"},
	"keeps-weights":      {"instances"},
	"last-row-missing":   {"values-identity", "values-conv"},
	"leaks-hold":         {"close-order"},
	"neighbour-write":    {"surroundings"},
	"never-unloads":      {"reload"},
	"not-deterministic":  {"determinism"},
	"one-request":        {"requests"},
	"packs-rows":         {"values-padded"},
	"short-mantissa":     {"rounding"},
	"stale-result":       {"reuse", "copies-memory"}, // it keeps results on the heap
	"swaps-inputs":       {"values-order"},
	"swaps-outputs":      {"values-split", "values-order", "functions"},
	"untyped-errors":     {"bad-programs", "cancel-noticed"},
	"writes-input":       {"surroundings"},
	"writes-padding":     {"surroundings"},
	"wrong-names":        {"layouts"},
	"wrong-result": {"values-identity", "values-add", "values-order", "values-split", "values-cast",
		"values-matmul", "values-conv", "values-padded", "functions"},
	"wrong-strides": {"layouts"},
}

// Every faulty engine fails the checks that must detect its fault.
func TestFaultyEngines(t *testing.T) {
	for i, f := range faulty.Faults() {
		if testing.Short() && !effort.Sample(i, 6) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			meant := caught[f.Name]
			require.NotEmpty(t, meant, "no check is listed for this fault")
			meant = runnable(meant)
			if !effort.Full() { // TestSoftEngine has the check, which computes for as long as a machine takes
				meant = slices.DeleteFunc(meant, func(c string) bool { return c == "deadline" })
			}
			failures := enginetest.Check(t.Context(), wrapped(f), enginetest.Only(meant...))
			failed := map[string]string{}
			for _, failure := range failures {
				failed[failure.Check] = failure.Text
			}
			for _, check := range meant {
				require.Contains(t, failed, check)
				require.NotContains(t, failed[check], "panic", "the fault itself is broken")
			}
		})
	}
	require.Len(t, caught, len(faulty.Faults()))
}

// runnable drops the check that measures memory where the system does not tell it.
func runnable(checks []string) []string {
	_, unknown := procmem.Proportional()
	return slices.DeleteFunc(slices.Clone(checks),
		func(c string) bool { return c == "copies-memory" && unknown != nil })
}

func wrapped(f faulty.Fault) func() ane.Engine {
	return func() ane.Engine { return faulty.Wrap(newSoft(), f) }
}

// A fault that does not change values fails its checks, and no others.
func TestFaultsAreIndependent(t *testing.T) {
	for _, name := range []string{"neighbour-write", "flushes-subnormals", "claims-apple", "never-unloads"} {
		f, ok := faulty.ByName(name)
		require.True(t, ok)
		for _, failure := range enginetest.Check(t.Context(), wrapped(f),
			enginetest.Without("not broken on purpose, and slow", "deadline")) {
			require.Contains(t, caught[name], failure.Check, failure.Text)
		}
	}
}
