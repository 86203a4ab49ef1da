//go:build !macrules

package procmem_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/procmem"
)

// A process has no more memory available than its group.
func TestTheGroupLimitsWhatIsAvailable(t *testing.T) {
	const group, limit = "ANEKIT_TEST_GROUP", 256 << 20
	if path := os.Getenv(group); path != "" {
		require.NoError(t, procmem.Join(path))
		fmt.Print(procmem.Available())
		os.Exit(0)
	}
	g, err := procmem.NewGroup(limit)
	if err != nil {
		t.Skipf("no control group: %v; run it as root", err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestTheGroupLimitsWhatIsAvailable$")
	child.Env = append(os.Environ(), group+"="+g.Path)
	out, err := child.Output()
	require.NoError(t, g.Close())
	require.NoError(t, err)
	var n uint64
	_, err = fmt.Sscan(string(out), &n)
	require.NoError(t, err, "%s", out)
	require.Positive(t, n)
	require.LessOrEqual(t, n, uint64(limit))
}
