//go:build !macrules

package unimem_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/sysfilter"
	"github.com/anekit/anekit/unimem"
)

// denyEnv is the error number that memfd_create and mlock2 return in a child process.
const denyEnv = "UNIMEM_TEST_DENY"

// denyCalls applies denyEnv to the process.
func denyCalls() error {
	text := os.Getenv(denyEnv)
	if text == "" {
		return nil
	}
	errno, err := strconv.ParseUint(text, 10, 12)
	if err != nil {
		return err
	}
	return sysfilter.Deny(map[uint32]unix.Errno{
		unix.SYS_MEMFD_CREATE: unix.Errno(errno), unix.SYS_MLOCK2: unix.ENOSYS,
	})
}

// TestWithoutMemfd runs tests again in a process whose kernel has neither memfd_create nor mlock2.
func TestWithoutMemfd(t *testing.T) {
	leaktest.SkipEmulated(t)
	if err := unix.Access("/dev/shm", unix.W_OK); err != nil {
		t.Skip("needs /dev/shm: ", err)
	}
	for name, errno := range map[string]unix.Errno{"old kernel": unix.ENOSYS, "filter": unix.EPERM} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "-test.count=1", "-test.short", "-test.v", "-test.run",
				"^(TestBlocks|TestLayout|TestGridTakeGive|TestRoundTrip|TestKeyIsComparable|TestFileInSharedMemory)$")
			cmd.Env = append(os.Environ(), denyEnv+"="+strconv.Itoa(int(errno)))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS: TestFileInSharedMemory", "%s", out)
		})
	}
}

// Without memfd_create a Block is an unlinked file in shared memory, which cannot be shared. A
// missing mlock2 is not the fault of a limit.
func TestFileInSharedMemory(t *testing.T) {
	if os.Getenv(denyEnv) == "" {
		t.Skip("needs a kernel without memfd_create: TestWithoutMemfd runs it")
	}
	b, err := unimem.Open(3 * page)
	require.NoError(t, err)
	require.Equal(t, "shm", b.Backing())
	require.NotZero(t, b.Handle())
	var file unix.Stat_t
	require.NoError(t, unix.Fstat(int(b.Handle()), &file))
	require.EqualValues(t, 3*page, file.Size)
	require.EqualValues(t, 3*page/512, file.Blocks, "all pages are allocated: the file system may be small")
	require.EqualValues(t, 0o600, file.Mode&0o777)
	require.Zero(t, file.Nlink, "the file has no name")

	require.False(t, b.Pinned())
	err = b.Unpinned()
	require.ErrorIs(t, err, unimem.ErrPin)
	require.ErrorIs(t, err, unix.ENOSYS)
	require.NotContains(t, err.Error(), "ulimit")
	_, err = unimem.Open(page, unimem.RequirePinned())
	require.ErrorIs(t, err, unimem.ErrPin)
	require.ErrorContains(t, err, "mlock2")
	require.NotContains(t, err.Error(), "ulimit")

	_, err = b.Share()
	require.ErrorIs(t, err, unimem.ErrShare)
	require.ErrorContains(t, err, "memfd_create")
	var system unix.Statfs_t
	require.NoError(t, unix.Statfs("/dev/shm", &system))
	if size := int(system.Blocks) * int(system.Bsize); size > 0 && uint64(size) < unimem.MachineMemory()-page {
		_, err = unimem.Open(size + page)
		require.ErrorIs(t, err, unimem.ErrExhausted)
		require.ErrorContains(t, err, "/dev/shm")
	}
	link, err := os.Readlink(filepath.Join("/proc/self/fd", strconv.Itoa(int(b.Handle()))))
	require.NoError(t, err)
	require.Contains(t, link, "(deleted)")
	require.NoError(t, b.Close())
}
