//go:build !macrules

package unimem_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/unimem"
)

const (
	nobody       = 65534
	smallMemlock = 64 << 10
)

// TestUnprivileged runs the whole suite again as a user without privileges, with a
// locked-memory limit of 64 KiB. The child process lowers the limit, see lowerLimits.
func TestUnprivileged(t *testing.T) {
	if os.Getenv(memlockEnv) != "" {
		t.Skip("this is already the run with the small limit")
	}
	if testing.CoverMode() != "" {
		t.Skip("a second run would overwrite the coverage profile; run without -cover")
	}
	cmd := exec.Command(readableCopy(t), "-test.count=1", "-test.short", "-test.v")
	cmd.Env = append(os.Environ(), memlockEnv+"=65536", "TMPDIR=/tmp")
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.ENOEXEC):
		t.Skip("a program of another architecture cannot run itself under an emulator; run natively")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		t.Skip("this container does not allow a change of user; run the tests as an ordinary user")
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestPinning", "the limit was not tested:\n%s", out)
}

// readableCopy copies the test program to a place where every user can run it.
func readableCopy(t *testing.T) string {
	dir, err := os.MkdirTemp("", "unimem")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))

	self, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	path := filepath.Join(dir, "unimem.test")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return path
}

// Opening pinned memory beyond the small limit is an error, below it succeeds.
func TestPinning(t *testing.T) {
	if os.Getenv(memlockEnv) == "" {
		t.Skip("needs the small limit: TestUnprivileged runs it")
	}
	if os.Geteuid() == 0 {
		t.Skip("root may lock beyond the limit: run as an ordinary user")
	}
	b, err := unimem.Open(2 * smallMemlock)
	require.NoError(t, err)
	require.False(t, b.Pinned())
	b.Bytes()[b.Size()-1] = 1
	require.NoError(t, b.Close())

	before := unimem.Live()
	_, err = unimem.Open(2*smallMemlock, unimem.RequirePinned())
	require.ErrorIs(t, err, unimem.ErrPin)
	require.ErrorContains(t, err, "ulimit -l")
	_, err = unimem.Start(2*smallMemlock, unimem.RequirePinned())
	require.ErrorIs(t, err, unimem.ErrPin)
	_, err = unimem.NewGrid(page, 5, unimem.RequirePinned(), unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrPin, "the fifth cell is beyond the limit")
	require.Equal(t, before, unimem.Live())

	b, err = unimem.Open(smallMemlock, unimem.RequirePinned())
	require.NoError(t, err)
	require.True(t, b.Pinned())
	require.NoError(t, b.Close())
}
