//go:build !macrules

package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Variables of sd_listen_fds(3).
const (
	listenPID   = "LISTEN_PID"
	listenFDs   = "LISTEN_FDS"
	listenNames = "LISTEN_FDNAMES"
	listenPidfd = "LISTEN_PIDFDID" // of later versions
)

// firstInherited is the first descriptor that a service manager passes.
const firstInherited = 3

// Inherit is the socket that a service manager passed to this process, nil without one: one listening Unix socket of
// type SOCK_SEQPACKET, in a folder that this user alone may use, as Listen makes them. Its file stays when the Listener
// is closed. Inherit unsets the variables that tell of the socket, so that no child takes it for its own.
//
// Errors match ane.ErrDenied when the folder is not private, or ane.ErrMismatch when the socket is another one.
func Inherit() (*Listener, error) {
	pid, count, names := os.Getenv(listenPID), os.Getenv(listenFDs), os.Getenv(listenNames)
	for _, v := range []string{listenPID, listenFDs, listenNames, listenPidfd} {
		if err := os.Unsetenv(v); err != nil {
			return nil, err
		}
	}
	if pid != strconv.Itoa(os.Getpid()) || count == "0" {
		return nil, nil // none, or for another process
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > mostInherited {
		return nil, misfit(listenFDs, fmt.Sprintf("%q is no number of sockets", count))
	}
	for fd := firstInherited; fd < firstInherited+n; fd++ {
		unix.CloseOnExec(fd)
	}
	if n != 1 {
		return nil, misfit(strings.ReplaceAll(names, ":", ", "), fmt.Sprintf("%d sockets", n))
	}
	return inherit(firstInherited, names)
}

// mostInherited bounds what Inherit believes.
const mostInherited = 1 << 10

// misfit is the answer to sockets that a broker does not serve.
func misfit(name, detail string) error {
	return &ane.Error{Op: "inherit", Engine: Name, Name: name, Err: ane.ErrMismatch, Detail: detail,
		Hint: "pass one socket: ListenSequentialPacket= with a path in a .socket unit, and Accept=no"}
}

// inherit makes a Listener of a descriptor, which it takes.
func inherit(fd int, name string) (*Listener, error) {
	f := os.NewFile(uintptr(fd), name)
	defer f.Close() // the net package has a descriptor of its own
	for _, want := range []struct {
		option, value int
		fault         string
	}{
		{unix.SO_DOMAIN, unix.AF_UNIX, "not a Unix socket"},
		{unix.SO_TYPE, unix.SOCK_SEQPACKET, "not of type SOCK_SEQPACKET"},
		{unix.SO_ACCEPTCONN, 1, "not listening"},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, want.option)
		if err != nil {
			return nil, misfit(name, fmt.Sprintf("descriptor %d is no socket: %v", fd, err))
		}
		if got != want.value {
			return nil, misfit(name, want.fault)
		}
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return nil, misfit(name, err.Error())
	}
	l := &Listener{inherited: true}
	if a, ok := at.(*unix.SockaddrUnix); ok {
		l.path = a.Name
	}
	if !filepath.IsAbs(l.path) {
		return nil, misfit(name, fmt.Sprintf("bound to %q, which is no absolute path", l.path))
	}
	var folder unix.Stat_t
	if err := unix.Lstat(filepath.Dir(l.path), &folder); err != nil {
		return nil, misfit(name, fmt.Sprintf("the folder of %s: %v", l.path, err))
	}
	if err := private(filepath.Dir(l.path), &folder); err != nil {
		return nil, err
	}
	sock, err := net.FileListener(f)
	if err != nil {
		return nil, misfit(name, err.Error())
	}
	l.sock = sock.(*net.UnixListener)
	return l, nil
}
