//go:build !macrules

package wire_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/tripbench"
)

// childEnv names the part that this program plays when a test starts it again. Its
// descriptors begin at 3.
const childEnv = "WIRE_TEST_CHILD"

var parts = map[string]func() error{}

func TestMain(m *testing.M) {
	tripbench.ServeSignals()
	if name := os.Getenv(childEnv); name != "" {
		part := parts[name]
		if part == nil {
			fmt.Fprintln(os.Stderr, "no part", name)
			os.Exit(2)
		}
		if err := part(); err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	before := descriptors()
	leaktest.Main(m, func() []string { return await.Left(func() []string { return newDescriptors(before) }) })
}

// start runs this program in a part; files are its descriptors from 3 on and closed here.
func start(t testing.TB, part string, files ...*os.File) *exec.Cmd {
	leaktest.SkipEmulated(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"="+part)
	cmd.ExtraFiles = files
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	for _, f := range files {
		require.NoError(t, f.Close())
	}
	return cmd
}

// descriptors are those open in this process, with what they are.
func descriptors() map[string]string {
	open := map[string]string{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			open[e.Name()] = target
		}
	}
	return open
}

// newDescriptors names those that were not there before. The runtime's own stay open.
func newDescriptors(before map[string]string) []string {
	var found []string
	for fd, target := range descriptors() {
		if before[fd] == "" && !strings.Contains(target, "anon_inode:[event") && !strings.Contains(target, "/proc/") {
			found = append(found, "descriptor "+fd+" of "+target)
		}
	}
	return found
}
