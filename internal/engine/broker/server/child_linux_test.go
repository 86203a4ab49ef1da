//go:build !macrules

package server

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// childEnv names what this binary does instead of testing.
const childEnv = "ANEKIT_SERVER_TEST_CHILD"

// child is what it can do, in a process whose limits it may lower.
var child = map[string]func() int{}

// inChild runs one of them and returns what it wrote.
func inChild(t *testing.T, what string, env ...string) string {
	t.Helper()
	leaktest.SkipEmulated(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+what), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
