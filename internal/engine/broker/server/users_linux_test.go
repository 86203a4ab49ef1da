//go:build !macrules

package server

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAnotherUserIsRefused connects from a thread that has become another user.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can become another user: run the tests as root")
	}
	path := listen(t, Config{Stay: true})
	for dir := path; dir != filepath.Dir(os.TempDir()); dir = filepath.Dir(dir) {
		was, err := os.Stat(dir)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(dir, 0o777))                   // let it reach the socket, against all we do
		t.Cleanup(func() { _ = os.Chmod(dir, was.Mode().Perm()) }) // some are gone by then
	}
	got := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with its user
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			got <- errno
			return
		}
		conn, err := wiretest.Dial(path)
		if err != nil {
			got <- err
			return
		}
		p := newPeer(conn)
		defer p.close()
		got <- p.greet("")
	}()
	err := <-got
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, "user 65534")
	dial(t, path) // its own user is served
}
