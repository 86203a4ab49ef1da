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

// Pair is two connected Conns.
func Pair() (*wire.Conn, *wire.Conn, error) {
	a, f, err := PairFile()
	if err != nil {
		return nil, nil, err
	}
	b, err := fromFile(f)
	if err != nil {
		_ = a.Close() // the first failure is the one to report
	}
	return a, b, err
}

// PairFile is a Conn and the descriptor of the other end. Close both.
func PairFile() (*wire.Conn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	f := os.NewFile(uintptr(fds[1]), "wire")
	c, err := wire.NewConn(fds[0])
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return c, f, nil
}

// Dial connects to a broker's socket.
func Dial(path string) (*wire.Conn, error) {
	u, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return wire.FromUnix(u)
}

// fromFile makes a Conn of a copy of f's descriptor and closes f.
func fromFile(f *os.File) (*wire.Conn, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl(F_DUPFD_CLOEXEC)", err)
	}
	return wire.NewConn(fd)
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
