package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
)

// The replay of a report of info --report, from testdata/dumps or written here, has the same verdict as
// the report.
func TestReportsReplayToTheirVerdict(t *testing.T) {
	dir := bridgetest.Build(t)
	passing, failing := filepath.Join(t.TempDir(), "passing.json"), filepath.Join(t.TempDir(), "failing.json")
	require.Equal(t, cli.CodePass, command(t, dir, "", "info", "--engine", "standin", "--report", passing))
	require.Equal(t, cli.CodeUnavailable, command(t, dir, "../../testdata/dumps/compile-errors.json", "info", "--engine",
		"standin", "--report", failing))
	files, err := filepath.Glob("../../testdata/dumps/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	replayed := map[int]int{}
	for _, file := range append(files, passing, failing) {
		want, written := verdictOf(t, file)
		if !written {
			continue // a dump from a document, which dumps.txtar replays
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			require.Equal(t, want, command(t, dir, file, "check", "--engine", "standin", "--repeat", "2"))
		})
		replayed[want]++
	}
	require.NotZero(t, replayed[cli.CodePass])
	require.NotZero(t, replayed[cli.CodeUnavailable])
}

// verdictOf returns the exit status for the verdict of a report; false for any other dump.
func verdictOf(t *testing.T, file string) (code int, written bool) {
	v, err := plist.ReadFile(file)
	require.NoError(t, err)
	data := v.(plist.Dict).Dict("data")
	if data.String("unavailable") != "" {
		return cli.CodeUnavailable, true
	}
	switch data.String("verdict") {
	case cli.VerdictPass:
		return cli.CodePass, true
	case cli.VerdictFail:
		return cli.CodeFail, true
	}
	return 0, false
}

// command runs the command in another process, with a dump to replay, and returns its exit status.
func command(t *testing.T, bridge, dump string, args ...string) int {
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Args = append([]string{"ane-roundtrip"}, args...)
	c.Env = append(os.Environ(), objcbridge.EnvDir+"="+bridge, standin.EnvDump+"="+dump, "TEMP="+t.TempDir())
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err, "%s", &out)
		return cli.CodePass
	}
	t.Logf("%s", &out)
	return exit.ExitCode()
}
