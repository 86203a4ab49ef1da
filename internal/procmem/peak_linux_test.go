//go:build !macrules

package procmem_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
)

// getrusage begins with the peak of the parent at the time of exec.
func TestThePeakIsThatOfThisProcess(t *testing.T) {
	const parent = "ANEKIT_TEST_PEAK"
	if os.Getenv(parent) != "" {
		_, err := os.Stdout.WriteString(strconv.FormatInt(procmem.Peak(), 10))
		require.NoError(t, err)
		os.Exit(0)
	}
	leaktest.SkipEmulated(t)
	large := make([]byte, 256<<20)
	for i := 0; i < len(large); i += os.Getpagesize() {
		large[i] = 1
	}
	child := exec.Command(os.Args[0], "-test.run=^TestThePeakIsThatOfThisProcess$")
	child.Env = append(os.Environ(), parent+"=1")
	out, err := child.Output()
	runtime.KeepAlive(large)
	require.NoError(t, err)
	peak, err := strconv.Atoi(string(out))
	require.NoError(t, err, "%s", out)
	require.Positive(t, peak)
	require.Less(t, peak, len(large))
}
