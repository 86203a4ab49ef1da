//go:build !macrules

package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
)

// before65 is SO_PEERPIDFD on Linux before 6.5.
func before65(int) (int, error) { return -1, unix.ENOPROTOOPT }

// TestPeerWithoutPidfd: a kernel that notes no descriptor of the peer's process is asked for one by the number. A
// process that takes the number meanwhile is noticed by its start time, and no descriptor is left.
func TestPeerWithoutPidfd(t *testing.T) {
	here, there, err := wiretest.Pair()
	require.NoError(t, err)
	defer here.Close()
	defer there.Close()
	identity := func(p peers) (Identity, error) {
		var id Identity
		return id, here.Control(func(fd int) (err error) {
			id, _, err = identify(t.Context(), fd, &hashes{peers: p})
			return err
		})
	}
	want, err := identity(peers{})
	require.NoError(t, err)
	got, err := identity(peers{noted: before65})
	require.NoError(t, err)
	require.Equal(t, want, got)

	opened := 0
	count := func(pid int) (int, error) {
		opened++
		return unix.PidfdOpen(pid, 0)
	}
	for name, c := range map[string]struct {
		starts []any // what each look at the start time finds
		opened int
		why    string
	}{
		"another process": {[]any{uint64(7), uint64(8)}, 1, "passed to another"},
		"it ends before":  {[]any{os.ErrNotExist}, 0, "has ended"},
		"it ends after":   {[]any{uint64(7), os.ErrNotExist}, 1, "has ended"},
	} {
		opened = 0
		looks := c.starts
		_, err = identity(peers{noted: before65, open: count, start: func(int) (uint64, error) {
			next := looks[0]
			looks = looks[1:]
			if err, ended := next.(error); ended {
				return 0, err
			}
			return next.(uint64), nil
		}})
		require.ErrorContains(t, err, c.why, name)
		require.Equal(t, c.opened, opened, name)
		require.NotContains(t, strings.Join(files(), " "), "pidfd", name)
	}

	// What the kernel refuses for another reason is no reason to ask by the number.
	opened = 0
	_, err = identity(peers{noted: func(int) (int, error) { return -1, unix.EMFILE }, open: count})
	require.ErrorIs(t, err, unix.EMFILE)
	require.Zero(t, opened)
}

// TestStartOf: the start time of a process is the one that /proc shows after any name, and changes with the process.
func TestStartOf(t *testing.T) {
	leaktest.SkipEmulated(t)
	sleep, err := exec.LookPath("cat")
	require.NoError(t, err)
	hostile := filepath.Join(t.TempDir(), ") R 1 2 (")
	require.NoError(t, os.Symlink(sleep, hostile))
	var starts []uint64
	for range 2 {
		cmd := exec.Command(hostile)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		var tick uint64
		eventually(t, "a process has a later tick than the last", func() bool {
			tick, err = startOf(cmd.Process.Pid)
			require.NoError(t, err)
			if len(starts) == 0 || tick > starts[0] {
				return true
			}
			require.NoError(t, in.Close())
			require.NoError(t, cmd.Wait())
			cmd = exec.Command(hostile)
			in, err = cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			return false
		})
		own, err := startOf(os.Getpid())
		require.NoError(t, err)
		require.GreaterOrEqual(t, tick, own)
		starts = append(starts, tick)

		p := caller{pid: cmd.Process.Pid, start: tick}
		p.file, err = keyOf(unix.AT_FDCWD, exePath(p.pid))
		require.NoError(t, err)
		require.False(t, p.changed())
		p.start--
		require.True(t, p.changed(), "another process has the number and runs the same executable")
		require.NoError(t, in.Close())
		require.NoError(t, cmd.Wait())
		_, err = startOf(p.pid)
		require.Error(t, err)
	}
}
