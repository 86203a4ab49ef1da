//go:build !macrules

package server

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// firstInherited is the first descriptor that a service manager passes.
const firstInherited = 3

// Inherit is the socket that a service manager passed to this process as sd_listen_fds(3) describes, nil without one:
// one listening Unix socket of type SOCK_SEQPACKET, in a folder that this user alone may use, as Listen makes them. Its
// file stays when the Listener is closed. Inherit unsets the variables that tell of the socket, so that no child takes
// it for its own.
//
// Errors match ane.ErrDenied when the folder is not private, or ane.ErrMismatch when the socket is another one.
func Inherit() (*Listener, error) {
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	for _, v := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"} {
		if err := os.Unsetenv(v); err != nil {
			return nil, err
		}
	}
	if pid != strconv.Itoa(os.Getpid()) || count == "0" {
		return nil, nil // none, or for another process
	}
	if count != "1" {
		return nil, misfit("LISTEN_FDS is " + count)
	}
	unix.CloseOnExec(firstInherited)
	return inherit(firstInherited)
}

// misfit is the answer to sockets that a broker does not serve.
func misfit(detail string) error {
	return &ane.Error{Op: "inherit", Engine: Name, Err: ane.ErrMismatch, Detail: detail,
		Hint: "pass one socket: ListenSequentialPacket= with a path in a .socket unit, and Accept=no"}
}

// inherit makes a Listener of a descriptor, which it takes.
func inherit(fd int) (*Listener, error) {
	f := os.NewFile(uintptr(fd), "socket of the service manager")
	defer f.Close() // the net package has a descriptor of its own
	passed, err := net.FileListener(f)
	if err != nil {
		return nil, misfit(err.Error())
	}
	at, of := passed.Addr().String(), passed.Addr().Network()
	if of != "unixpacket" || !filepath.IsAbs(at) {
		return nil, errors.Join(misfit("it is "+of+" at "+at), passed.Close())
	}
	dir, err := privateDir(filepath.Dir(at))
	if err != nil {
		return nil, errors.Join(err, passed.Close())
	}
	return &Listener{inherited: true, path: at, dir: dir, sock: passed.(*net.UnixListener)}, nil
}
