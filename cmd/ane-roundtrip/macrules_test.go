package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/host"
)

// onTheStandIn runs check on the stand-in and returns its report and its verdict.
func onTheStandIn(t *testing.T, args ...string) (r struct {
	Verdict string
	Claims  []check.Claim
	Checks  []trial.Check
}, status int) {
	t.Helper()
	bridgetest.Build(t)
	var out, errw bytes.Buffer
	args = append([]string{"check", "--engine", "standin", "--repeat", "3", "--json"}, args...)
	status = execute(t.Context(), args, &out, &errw)
	require.NoError(t, json.Unmarshal(out.Bytes(), &r), "%s%s", out.Bytes(), errw.Bytes())
	return r, status
}

// With the rules of macOS the checks are those that a Mac can make. The list has each with its status, and a skip with
// what the system or the engine does not show.
func TestChecksWithTheRulesOfMacOS(t *testing.T) {
	if !host.Mac {
		t.Skip("the rules of macOS are in builds with the tag macrules; run make mac")
	}
	r, status := onTheStandIn(t)
	var table strings.Builder
	for _, c := range r.Checks {
		require.NotEqual(t, trial.Fail, c.Status, c.Name)
		fmt.Fprintf(&table, "%-22s %s", c.Name, c.Status)
		if c.Status == trial.Skip {
			fmt.Fprintf(&table, "  %s", regexp.MustCompile(`\d+`).ReplaceAllString(c.Detail, "N"))
		}
		table.WriteByte('\n')
	}
	for _, c := range r.Claims {
		fmt.Fprintf(&table, "claim %s: %s by %s\n", c.Name, c.Status, strings.Join(c.By, ", "))
	}
	file := filepath.Join("testdata", "macrules.golden")
	if os.Getenv("ANEKIT_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile(file, []byte(table.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), table.String())
	require.Equal(t, cli.VerdictPass, r.Verdict)
	require.Zero(t, status)
}

// What a Mac shows was read on the path of Apple's engine, and not found by running this code: no view of the engine's
// memory, so neither copies nor mappings nor frames, and yet that nothing is copied. Whether a driver of Apple's marks
// surfaces as in use is unknown.
func TestChecksWithTheRulesOfMacOSAreThoseOfAMac(t *testing.T) {
	if !host.Mac {
		t.Skip("the rules of macOS are in builds with the tag macrules; run make mac")
	}
	r, _ := onTheStandIn(t)
	skipped := 0
	for _, c := range r.Checks {
		hidden := strings.HasSuffix(c.Name, "/copies") || c.Name == "sharing/mapping" || c.Name == "sharing/frames" ||
			c.Name == "sharing/cpu-to-engine" || c.Name == "sharing/engine-to-cpu" || c.Name == trial.UsesCheck
		require.Equal(t, hidden, c.Status == trial.Skip, "%s: %s", c.Name, c.Status)
		if hidden {
			skipped++
		}
	}
	require.Equal(t, 11+1+5, skipped, "of each model, of all, and of shared memory")
	require.Equal(t, []check.Claim{{Name: check.NoCopy, Status: check.ClaimShown,
		By: []string{trial.GrowthCheck, trial.LateWriteCheck}}}, r.Claims)

	// A meter that does not see the copies made on purpose shows nothing.
	r, status := onTheStandIn(t, "--inject", "blind-meter", "--require-shown", check.NoCopy)
	require.Equal(t, check.ClaimNotShown, r.Claims[0].Status)
	require.Equal(t, 1, status)
	for _, fault := range []string{"copies-at-bind", "copies-inputs", "copies-outputs", "hidden-copy"} {
		r, status := onTheStandIn(t, "--inject", fault)
		require.Equal(t, 1, status, "%s: %+v", fault, r.Claims)
		require.Equal(t, check.ClaimRefuted, r.Claims[0].Status, "%s: %+v", fault, r.Claims)
	}
}

// emptyFolder is the environment variable with a folder that has no libraries, for a child process.
const emptyFolder = "ANEKIT_ROUNDTRIP_TEST_WITHOUT"

// Without the stand-in for IOSurface, info says why there is no memory.
func TestInfoWithoutMemory(t *testing.T) {
	if !host.Mac || host.Name != "linux" {
		t.Skip("the rules of macOS are in builds with the tag macrules; run make mac")
	}
	if os.Getenv(emptyFolder) == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestInfoWithoutMemory$")
		c.Env = append(os.Environ(), emptyFolder+"="+t.TempDir())
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	t.Setenv(bridgedir.Env, os.Getenv(emptyFolder)) // before this process loads the library
	var out, errw bytes.Buffer
	require.Zero(t, execute(t.Context(), []string{"info"}, &out, &errw), errw.String())
	require.Regexp(t, `memory +none: .*no stand-in for IOSurface: `+bridgedir.Env+` leads to`, out.String())
}
