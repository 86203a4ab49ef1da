package unimem_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// limitEnv makes TestBelowFileLimit run below a limit on the size of files, in a process of its own.
const limitEnv = "UNIMEM_TEST_FSIZE"

// A Block larger than RLIMIT_FSIZE is memory of the heap, which cannot be shared: the error names the limit.
func TestBelowFileLimit(t *testing.T) {
	leaktest.SkipEmulated(t)
	if !host.ShareByFD {
		t.Skip("Blocks are no memfds")
	}
	if os.Getenv(limitEnv) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.count=1", "-test.v", "-test.run", "^TestBelowFileLimit$")
		cmd.Env = append(os.Environ(), limitEnv+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestBelowFileLimit", "%s", out)
		return
	}
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: unimem.PageSize, Max: old.Max}))
	small, err := unimem.Open(unimem.PageSize)
	require.NoError(t, err)
	require.Equal(t, "memfd", small.Backing())
	require.NoError(t, small.Close())
	b, err := unimem.Open(unimem.PageSize + 1)
	require.NoError(t, err)
	require.Equal(t, "heap", b.Backing())
	clear(b.Bytes())
	_, err = b.Share()
	require.ErrorIs(t, err, unimem.ErrShare)
	require.ErrorContains(t, err, "raise RLIMIT_FSIZE (ulimit -f, LimitFSIZE of a service)")
	require.NoError(t, b.Close())
}
