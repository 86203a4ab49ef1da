//go:build !macrules

// Package wiretest makes connections of package wire for tests: pairs within a process, and
// clients of a socket.
package wiretest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/stretchr/testify/require"
)

// Pair is two connected Conns. Close both.
func Pair(t testing.TB) (a, b *wire.Conn) {
	t.Helper()
	fds := pair(t)
	return conn(t, fds[0]), conn(t, fds[1])
}

// PairFile is a Conn and the descriptor of the other end. Close both.
func PairFile(t testing.TB) (*wire.Conn, *os.File) {
	t.Helper()
	fds := pair(t)
	return conn(t, fds[0]), os.NewFile(uintptr(fds[1]), "wire")
}

func pair(t testing.TB) [2]int {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	return fds
}

func conn(t testing.TB, fd int) *wire.Conn {
	t.Helper()
	c, err := wire.NewConn(fd)
	require.NoError(t, err)
	return c
}

// Dial connects to a broker's socket.
func Dial(path string) (*wire.Conn, error) {
	u, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return wire.FromUnix(u)
}

// Place is a path for a socket in a new private folder.
func Place(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "anekit", "broker.sock")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	return path
}

// Listening is a socket as a service manager makes it.
func Listening(t testing.TB, network, path string) *os.File {
	t.Helper()
	l, err := net.ListenUnix(network, &net.UnixAddr{Name: path, Net: network})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	t.Cleanup(func() { _ = f.Close() })
	return f
}
