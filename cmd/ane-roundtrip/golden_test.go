package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/step"
)

// fields lists the fields of a JSON value with their types, as paths.
func fields(v any, path string, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, sub := range v {
			fields(sub, path+"."+name, found)
		}
	case []any:
		for _, sub := range v {
			fields(sub, path+"[]", found)
		}
	case string:
		found[path+" string"] = true
	case float64:
		found[path+" number"] = true
	default:
		found[path] = true
	}
}

// golden compares the fields of a report with those of a committed one, which package schematest
// validates. ANEKIT_GOLDEN=write writes the file.
func golden(t *testing.T, file string, got []byte) {
	if os.Getenv("ANEKIT_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	list := func(text []byte) []string {
		var doc any
		require.NoError(t, json.Unmarshal(text, &doc), "%s", text)
		found := map[string]bool{}
		fields(doc, "", found)
		delete(found, ".host.pinning string") // why pages are not pinned, or not known to be, on this machine
		return slices.Sorted(maps.Keys(found))
	}
	require.Equal(t, list(want), list(got))
}

// bench prints the other figures if a step cannot run. The test does not depend on the figures.
func TestBenchReport(t *testing.T) {
	leaktest.SkipEmulated(t)
	cases := membench.Cases()[:1]
	broken := measure.Case{Name: "Broken", What: "cannot run", MaxRatio: 1,
		Open: func(*step.T) measure.Loop { return step.Must[measure.Loop](nil, errors.New("broken")) }}
	plan := bench.Plan{Cases: append(cases[:1:1], broken), Sizes: []int{4 << 10}, Rounds: 2, Time: time.Millisecond,
		Caches: []int{2048}}
	for _, args := range [][]string{{"--json"}, {}} {
		var out, errw bytes.Buffer
		a := cli.New(rootCommand, append([]string{"bench"}, args...), &out, &errw)
		a.Engine = engine.Soft
		err := a.Conclude(t.Context(), bench.Run(a, t.Context(), plan))
		require.ErrorContains(t, err, "1 step could not run: cannot run")
		if len(args) == 0 {
			require.Contains(t, out.String(), "Tape take")
			require.Contains(t, out.String(), "\ncannot run: skipped: broken\n")
			require.Contains(t, out.String(), "verdict: fail")
			continue
		}
		var r cli.Report
		require.NoError(t, json.Unmarshal(withoutMisses(t, out.Bytes()), &r))
		require.Equal(t, cli.VerdictFail, r.Verdict)
		if !host.Broker { // the committed one has the floor of two processes
			require.NotContains(t, out.String(), `"evaluate"`)
			continue
		}
		golden(t, "testdata/bench.json", withoutMisses(t, out.Bytes()))
	}
}

// TestBenchInAMode: the report names the arithmetic, of the broker too.
func TestBenchInAMode(t *testing.T) {
	leaktest.SkipEmulated(t)
	var out, errw bytes.Buffer
	a := cli.New(rootCommand, []string{"bench", "--json"}, &out, &errw)
	a.Engine, a.Mode = engine.Soft, "m6"
	plan := bench.Plan{Cases: membench.Cases()[:1], Sizes: []int{4 << 10}, Rounds: 1, Time: time.Millisecond}
	_ = a.Conclude(t.Context(), bench.Run(a, t.Context(), plan)) // the figures decide
	var r cli.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), errw.String())
	require.NotNil(t, r.Numerics)
	require.Equal(t, numerics.M6.Describe(), *r.Numerics)
}

// withoutMisses removes the fields that depend on the figures.
func withoutMisses(t *testing.T, text []byte) []byte {
	var doc any
	require.NoError(t, json.Unmarshal(text, &doc))
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, "missed")
			for _, sub := range v {
				walk(sub)
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	walk(doc)
	text, err := json.MarshalIndent(doc, "", "  ")
	require.NoError(t, err)
	return append(text, '\n')
}

// An interrupted command saves its report too.
func TestInterruptSavesReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"check", "bench", "info"} {
		var out, errw bytes.Buffer
		file := filepath.Join(t.TempDir(), "report.html")
		require.Equal(t, cli.CodeInterrupted, execute(ctx, []string{command, "--engine", engine.Soft, "--report", file},
			&out, &errw), "%s", &errw)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), `data-json="/error/message">interrupted<`)
		left, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Len(t, left, 1, "no temporary file")
	}
}

// An interrupted command prints its JSON object.
func TestInterruptReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"check", "info", "bench"} {
		var out, errw bytes.Buffer
		args := []string{command, "--json", "--engine", engine.Soft}
		require.Equal(t, cli.CodeInterrupted, execute(ctx, args, &out, &errw), "%v: %s", args, &errw)
		golden(t, "testdata/interrupt.json", out.Bytes())
	}
}
