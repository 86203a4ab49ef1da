package enginetest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/enginetest"
	"github.com/anekit/anekit/ane/faulty"
	"github.com/anekit/anekit/ane/interp"
	"github.com/anekit/anekit/unimem"
)

// A run that leaves anything open fails, whatever its tests said.
func TestMain(m *testing.M) {
	code := m.Run()
	if s := unimem.Live(); s.Blocks != 0 || s.Mappings != 0 || s.Unbalanced != 0 {
		fmt.Fprintf(os.Stderr, "enginetest: left open: %+v\n", s)
		code = 1
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, "enginetest:", err)
		code = 1
	}
	os.Exit(code)
}

func soft() ane.Engine { return interp.New() }

func TestSoftEngine(t *testing.T) {
	enginetest.Run(t, soft, enginetest.Named(interp.Name))
}

func TestSoftEngineWithOffsets(t *testing.T) {
	enginetest.Run(t, func() ane.Engine { return interp.New(interp.AllowOffsets()) }, enginetest.Named(interp.Name), enginetest.Only("offsets", "info"))
}

// The wrapper alone is no fault.
func TestHonestWrapper(t *testing.T) {
	require.Empty(t, enginetest.Check(t.Context(), func() ane.Engine { return faulty.Wrap(soft(), faulty.Fault{}) }))
}

// caught names the check that is meant for each fault.
var caught = map[string]string{
	"claims-apple":       "info",
	"claims-offsets":     "offsets",
	"copies-at-bind":     "late-write",
	"copies-inputs":      "copies-blocks",
	"copies-outputs":     "views",
	"drops-errors":       "cancel-noticed",
	"flushes-subnormals": "rounding",
	"hidden-copy":        "copies-memory",
	"ignores-cancel":     "deadline",
	"last-row-missing":   "values-identity",
	"leaks-hold":         "close-order",
	"neighbour-write":    "surroundings",
	"never-unloads":      "reload",
	"not-deterministic":  "determinism",
	"one-request":        "requests",
	"packs-rows":         "values-padded",
	"short-mantissa":     "rounding",
	"stale-result":       "reuse",
	"swaps-inputs":       "values-order",
	"swaps-outputs":      "values-split",
	"untyped-errors":     "bad-programs",
	"writes-input":       "surroundings",
	"writes-padding":     "surroundings",
	"wrong-names":        "layouts",
	"wrong-result":       "values-conv",
	"wrong-strides":      "layouts",
}

// Every faulty engine fails the check that is meant for it.
func TestFaultyEngines(t *testing.T) {
	for _, f := range faulty.Faults() {
		t.Run(f.Name, func(t *testing.T) {
			meant := caught[f.Name]
			require.NotEmpty(t, meant, "no check is meant for this fault")
			failures := enginetest.Check(t.Context(), func() ane.Engine { return faulty.Wrap(soft(), f) })
			var checks []string
			for _, failure := range failures {
				t.Log(failure)
				checks = append(checks, failure.Check)
			}
			require.Contains(t, checks, meant)
		})
	}
	require.Len(t, caught, len(faulty.Faults()))
}
