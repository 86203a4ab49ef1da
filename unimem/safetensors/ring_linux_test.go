package safetensors

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/sysfilter"
)

// denyEnv is a system call and the error number that it returns in a child process.
const denyEnv = "SAFETENSORS_TEST_DENY"

// denyCalls applies denyEnv to the process.
func denyCalls() error {
	text := os.Getenv(denyEnv)
	if text == "" {
		return nil
	}
	var call, errno uint32
	if _, err := fmt.Sscan(text, &call, &errno); err != nil {
		return err
	}
	return sysfilter.Deny(map[uint32]unix.Errno{call: unix.Errno(errno)})
}

// TestLoadWhereRingsAreRefused runs TestRingIsRefused in processes whose system refuses a call of io_uring.
func TestLoadWhereRingsAreRefused(t *testing.T) {
	leaktest.SkipEmulated(t)
	for name, c := range map[string]struct {
		call  int
		errno unix.Errno
		word  string
	}{
		"old kernel": {unix.SYS_IO_URING_SETUP, unix.ENOSYS, "older than Linux 5.6"},
		"filter":     {unix.SYS_IO_URING_SETUP, unix.EPERM, "io_uring_disabled"},
		"memlock":    {unix.SYS_IO_URING_REGISTER, unix.ENOMEM, "ulimit -l"},
		"no entry":   {unix.SYS_IO_URING_ENTER, unix.EPERM, "io_uring_enter"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "-test.count=1", "-test.v", "-test.run", "^TestRingIsRefused$")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", denyEnv, c.call, int(c.errno)))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), c.word)
			require.Contains(t, string(out), "--- PASS: TestRingIsRefused")
		})
	}
}

func TestRingIsRefused(t *testing.T) {
	if os.Getenv(denyEnv) == "" {
		t.Skip("needs a system without io_uring: TestLoadWhereRingsAreRefused runs it")
	}
	path, data := large(t)
	f, err := Load(t.Context(), path, tape(t, 3*part), Ring())
	require.NoError(t, err)
	require.ErrorIs(t, f.Report().Ring, ErrRing)
	fmt.Println(f.Report().Ring)
	b, err := f.Tensor("b")
	require.NoError(t, err)
	require.True(t, bytes.Equal(data[1001:], b.Bytes()))
	require.NoError(t, f.Close())
}
