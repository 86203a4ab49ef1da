//go:build !macrules

package server

import (
	"os"
	"os/exec"
	"testing"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if f := child[os.Getenv(childEnv)]; f != nil {
		os.Exit(f())
	}
	leaktest.NeedsProcesses()
	leaktest.Main(m, openFiles(len(files())))
}

// files lists the descriptors of this process.
func files() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return []string{err.Error()}
	}
	var open []string
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil { // the folder itself is closed by now
			open = append(open, to)
		}
	}
	return open
}

// openFiles reports descriptors that were not there before. The poller of the
// runtime opens some for itself.
func openFiles(before int) func() []string {
	const poller = 3
	return func() []string {
		return await.Left(func() []string {
			if now := files(); len(now) > before+poller {
				return now
			}
			return nil
		})
	}
}

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
