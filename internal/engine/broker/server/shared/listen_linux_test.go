//go:build !macrules

package shared

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
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

// socket is a path for a listener in a folder that Listen makes.
func socket(t *testing.T) string { return filepath.Join(t.TempDir(), "anekit", "broker.sock") }

// TestAcceptWhenTheSocketIsGone: Accept returns when the socket's file was removed or replaced, and leaves what took
// its place.
func TestAcceptWhenTheSocketIsGone(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		path := socket(t)
		l, err := Listen(path)
		require.NoError(t, err)
		conn, err := wiretest.Dial(path)
		require.NoError(t, err)
		there, err := l.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, there.Close())
		require.NoError(t, os.Remove(path))
		if replaced {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
		_, err = l.Accept()
		require.ErrorIs(t, err, ane.ErrClosed)
		require.ErrorContains(t, err, "removed or replaced")
		require.NoError(t, l.Close())
		_, err = os.Lstat(path)
		require.Equal(t, replaced, err == nil)
		_, err = l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)
	}
}

// TestInheritRefuses: what is no socket of a broker is refused, with the fault and the fix.
func TestInheritRefuses(t *testing.T) {
	datagram, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	inet, err := tcp.(*net.TCPListener).File()
	require.NoError(t, err)
	defer inet.Close()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	deaf, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0) // as with Accept=yes
	require.NoError(t, err)
	require.NoError(t, unix.Bind(deaf, &unix.SockaddrUnix{Name: wiretest.Place(t)}))
	gone := wiretest.Place(t)
	lost := wiretest.Listening(t, "unixpacket", gone)
	require.NoError(t, os.RemoveAll(filepath.Dir(gone)))
	open := wiretest.Place(t)
	require.NoError(t, os.Chmod(filepath.Dir(open), 0o755))
	abstract := wiretest.Listening(t, "unixpacket", "@anekit-test-"+fmt.Sprint(os.Getpid()))
	for _, one := range []struct {
		f     *os.File
		err   error
		fault string
	}{
		{wiretest.Listening(t, "unix", wiretest.Place(t)), ane.ErrMismatch, "1 sockets, the first is unix at /"},
		{os.NewFile(uintptr(datagram), "datagram"), ane.ErrMismatch, "is unixgram"},
		{inet, ane.ErrMismatch, "is tcp at 127.0.0.1"},
		{null, ane.ErrMismatch, "on non-socket"},
		{abstract, ane.ErrMismatch, "is unixpacket at @"},
		{os.NewFile(uintptr(deaf), "deaf"), ane.ErrMismatch, "does not listen"},
		{lost, os.ErrNotExist, filepath.Dir(gone)},
		{wiretest.Listening(t, "unixpacket", open), ane.ErrDenied, "lets others in"},
	} {
		_, err := Inherit([]*os.File{one.f})
		require.ErrorIs(t, err, one.err, one.fault)
		require.ErrorContains(t, err, one.fault)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Hint)
	}
	require.NoDirExists(t, filepath.Dir(gone))
	_, err = Inherit([]*os.File{wiretest.Listening(t, "unixpacket", wiretest.Place(t)), wiretest.Listening(t, "unixpacket", wiretest.Place(t))})
	require.ErrorIs(t, err, ane.ErrMismatch)
	require.ErrorContains(t, err, "2 sockets")
	l, err := Inherit(nil)
	require.NoError(t, err)
	require.Nil(t, l)
}

// TestInheritedFile: the file of a socket that was passed is neither watched nor removed.
func TestInheritedFile(t *testing.T) {
	for _, removed := range []bool{false, true} {
		path := wiretest.Place(t)
		l, err := Inherit([]*os.File{wiretest.Listening(t, "unixpacket", path)})
		require.NoError(t, err)
		require.Equal(t, path, l.Path())
		if removed {
			require.NoError(t, os.Remove(path))
		}
		require.True(t, l.present())
		require.NoError(t, l.Close())
		_, err = os.Lstat(path)
		require.Equal(t, removed, os.IsNotExist(err))
	}
}
