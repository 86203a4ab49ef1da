//go:build cgo && (amd64 || arm64)

package gates

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds a program that hangs. No test result depends on it.
const patience = 20 * time.Minute

// result is the outcome of a program.
type result struct {
	status int // exit status; -1 if a signal ended the program
	checks int // number of checks that passed
	text   string
	errors string
	files  []string // files left in its temporary folder
}

// run runs a program, at most two at a time, in its own temporary folder: GNUstep uses TEMP directly if only
// the owner can read it.
func run(t *testing.T, env []string, name string, args ...string) result {
	t.Helper()
	temp, err := os.MkdirTemp("", "run") // mode 0700
	require.NoError(t, err)
	defer os.RemoveAll(temp)
	process.busy <- struct{}{}
	defer func() { <-process.busy }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), append(env, "TEMP="+temp, "TMPDIR="+temp, "ANEKIT_STANDIN_TEMP_DIR="+temp)...)
	cmd.WaitDelay = time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "%s %q hangs; its output:\n%s%s", name, args, &out, &errs)
	r := result{status: cmd.ProcessState.ExitCode(), text: out.String(), errors: errs.String()}
	r.checks = strings.Count("\n"+r.text, "\nok ")
	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	for _, e := range entries {
		r.files = append(r.files, e.Name())
	}
	return r
}

// passes requires that the program has made checks and that all passed.
func (r result) passes(t *testing.T) {
	t.Helper()
	require.Zero(t, r.status, "%s%s", r.text, r.errors)
	require.Positive(t, r.checks, r.text)
	require.NotContains(t, r.text, "FAIL")
	require.Empty(t, r.files, "temporary files")
	for line := range strings.Lines(r.text) {
		if strings.HasPrefix(line, "  ") {
			t.Log(strings.TrimSpace(line))
		}
	}
	t.Logf("%d checks", r.checks)
}
