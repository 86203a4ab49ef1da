//go:build !macrules

package server

import (
	"crypto/sha256"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

func TestListenMakesAPrivateSocket(t *testing.T) {
	path := socket(t)
	l, err := Listen(path)
	require.NoError(t, err)
	require.Equal(t, path, l.Path())
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket|0o600, info.Mode())
	info, err = os.Lstat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, fs.ModeDir|0o700, info.Mode())

	_, err = Listen(path)
	require.ErrorIs(t, err, ane.ErrInUse)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
	again, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// TestLockRemoved: a listener whose lock was removed closes without an error, and leaves the lock of another.
func TestLockRemoved(t *testing.T) {
	path := socket(t)
	l, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, l.Close())

	l, err = Listen(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, os.WriteFile(path+".lock", []byte("another's"), 0o600))
	require.NoError(t, l.Close())
	require.FileExists(t, path+".lock")
}

func TestListenTakesALongPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 200), "s")
	l, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestListenReplacesWhatIsStale(t *testing.T) {
	path := socket(t)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	dead, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.NoError(t, os.WriteFile(path+".lock", nil, 0o600)) // of a broker that was killed
	l, err := Listen(path)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

func TestListenRefuses(t *testing.T) {
	dir := t.TempDir() // 0755
	require.NoError(t, os.Chmod(dir, 0o755))
	private := filepath.Join(dir, "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(private, link))
	file := filepath.Join(private, "file")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	pointing := filepath.Join(private, "pointing")
	require.NoError(t, os.Symlink(file, pointing))
	locked := filepath.Join(private, "locked")
	require.NoError(t, os.Symlink(file, locked+".lock"))
	alive := filepath.Join(private, "alive")
	other, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: alive, Net: "unixpacket"})
	require.NoError(t, err)
	defer other.Close()
	stream := filepath.Join(private, "stream")
	third, err := net.Listen("unix", stream)
	require.NoError(t, err)
	defer third.Close()
	for path, want := range map[string]error{
		filepath.Join(dir, "s"):             ane.ErrDenied, // others may look in
		filepath.Join(link, "s"):            unix.ENOTDIR,
		filepath.Join(dir, "no", "no", "s"): fs.ErrNotExist,
		file:                                fs.ErrExist,
		pointing:                            fs.ErrExist,
		locked:                              unix.ELOOP,
		alive:                               ane.ErrInUse,
		stream:                              ane.ErrInUse,
		"":                                  fs.ErrInvalid,
		"/":                                 fs.ErrInvalid,
		private + "/":                       fs.ErrInvalid, // a folder, which clients would not find the socket in
		private + "/..":                     fs.ErrInvalid,
		filepath.Join(private, strings.Repeat("x", 81)):  fs.ErrInvalid,
		filepath.Join(private, strings.Repeat("x", 300)): fs.ErrInvalid,
	} {
		_, err := Listen(path)
		require.ErrorIs(t, err, want, path)
		var e *ane.Error
		require.ErrorAs(t, err, &e, path)
		require.NotEmpty(t, e.Hint, path)
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mine", string(kept))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(private, 65534, -1))
		_, err := Listen(filepath.Join(private, "new"))
		require.ErrorIs(t, err, ane.ErrDenied)
		require.NoError(t, os.Chown(private, 0, -1))
	}
}

// TestOneOfManyListens starts brokers at once, again and again.
func TestOneOfManyListens(t *testing.T) {
	path := socket(t)
	for range 50 {
		got := make(chan *Listener, 8)
		var all sync.WaitGroup
		for range cap(got) {
			all.Go(func() {
				l, err := Listen(path)
				if err == nil {
					got <- l
				} else if !isInUse(err) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Len(t, got, 1)
		require.NoError(t, (<-got).Close())
	}
}

func isInUse(err error) bool {
	return strings.Contains(err.Error(), ane.ErrInUse.Error())
}

func TestIdentityIsUserAndExecutable(t *testing.T) {
	a, b, err := wiretest.Pair()
	require.NoError(t, err)
	defer a.Close()
	defer b.Close()
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	var seen hashes
	for range 2 { // the second time from memory
		require.NoError(t, a.Control(func(fd int) error {
			id, err := identify(t.Context(), fd, &seen)
			require.NoError(t, err)
			require.Equal(t, Identity{uint32(os.Geteuid()), sha256.Sum256(exe)}, id)
			return nil
		}))
	}
	require.Len(t, seen.sums, 1)
}

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
