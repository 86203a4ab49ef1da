package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/objcbridge"
)

// seenOnMac reads the table of docs/MACS.md: for each pattern of checks what is seen with a Neural Engine and without.
func seenOnMac(t *testing.T) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/MACS.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| checks | with a Neural Engine | without |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string][2]string{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 4, line)
		for _, seen := range cells[1:3] {
			require.Regexp(t, "^(pass|skip)", seen)
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			require.NotContains(t, rows, m[1])
			rows[m[1]] = [2]string{cells[1], cells[2]}
		}
	}
	return rows
}

// patternsOf lists the patterns of rows that a check has.
func patternsOf(t *testing.T, rows map[string][2]string, name string) (of []string) {
	t.Helper()
	for pattern := range rows {
		ok, err := path.Match(check.Flat(pattern), check.Flat(name))
		require.NoError(t, err, pattern)
		if ok {
			of = append(of, pattern)
		}
	}
	return of
}

// docs/MACS.md tells of each check, in one row, what the owner of a Mac sees; each pattern there has a check.
func TestMacsPageHasEveryCheck(t *testing.T) {
	rows := seenOnMac(t)
	names := check.CheckNames(false, false, true)
	used := map[string]bool{}
	for _, name := range append(names, trial.UsesCheck) {
		of := patternsOf(t, rows, name)
		require.Len(t, of, 1, "rows of docs/MACS.md for %s", name)
		used[of[0]] = true
	}
	for pattern := range rows {
		require.True(t, used[pattern], "docs/MACS.md: no check is called %s", pattern)
	}
}

// With the rules of macOS, check shows what the page says: the stand-in what Apple's engine does, and the software
// engine what a Mac without a Neural Engine does. On a Mac it is Apple's engine itself.
func TestMacsPageIsWhatCheckShows(t *testing.T) {
	if !host.Mac {
		t.Skip("no rules of macOS here; run it on a Mac, or with -tags macrules")
	}
	rows := seenOnMac(t)
	for column, name := range []string{map[bool]string{true: engine.Apple, false: engine.StandIn}[host.Apple],
		engine.Soft} {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Args = []string{"ane-roundtrip", "check", "--engine", name, "--repeat", "2", "--json"}
			c.Env = append(os.Environ(), "TEMP="+t.TempDir())
			if name == engine.StandIn {
				c.Env = append(c.Env, objcbridge.EnvDir+"="+bridgetest.Build(t))
			}
			text, err := c.Output()
			if c.ProcessState.ExitCode() == cli.CodeUnavailable {
				t.Skipf("%s is not available: %s", name, text)
			}
			require.NoError(t, err, "%s", text)
			var r cli.Report
			require.NoError(t, json.Unmarshal(text, &r))
			require.Greater(t, len(r.Checks), 30)
			for _, check := range r.Checks {
				of := patternsOf(t, rows, check.Name)
				require.Len(t, of, 1, check.Name)
				require.Contains(t, rows[of[0]][column], check.Status, "%s: %s", check.Name, check.Detail)
			}
		})
	}
}
