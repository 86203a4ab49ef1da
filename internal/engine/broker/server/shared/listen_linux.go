//go:build !macrules

package shared

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Listener is a socket that clients connect to. Close may be called at any time and more than once.
type Listener struct {
	sock *net.UnixListener
	path string
	dir  *os.File    // the folder, which cannot be exchanged while it is open; nil for a socket that was passed
	file fs.FileInfo // of the socket; nil for one that was passed: its file is the service manager's

	once   sync.Once
	closed error
}

// longestName bounds the name of a socket, without the folder that at puts before it: sun_path of sockaddr_un has 108
// bytes.
const longestName = 80

// otherPlace is what to do about a path that no socket can be made at.
const otherPlace = "name a path in a private folder, such as one in $XDG_RUNTIME_DIR"

// Listen makes the socket of a shared broker at path, for this user alone. The
// folder is made when it is missing; it has to be a real one of ours with mode
// 0700, so that no other user can reach the socket or exchange it. What a broker
// that was killed left is replaced.
//
// Errors match ane.ErrInUse when a broker lives there, ane.ErrDenied when the
// folder is not private, or what the system reported.
func Listen(path string) (*Listener, error) {
	switch name := filepath.Base(path); {
	case path == "" || strings.HasSuffix(path, "/") || name == "." || name == "..":
		return nil, refuseSocket(path, fs.ErrInvalid, "no name of a socket", otherPlace)
	case len(name) > longestName:
		return nil, refuseSocket(path, fs.ErrInvalid,
			fmt.Sprintf("a name of %d bytes, at most %d; the folder's may be longer", len(name), longestName),
			"name the socket shorter")
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, refuseSocket(filepath.Dir(path), err, "", otherPlace)
	}
	dir, err := privateDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, dir: dir}
	if err := l.alone(l.bind); err != nil {
		_ = dir.Close() // the first error is the one to report
		return nil, err
	}
	return l, nil
}

func refuseSocket(path string, err error, detail, hint string) error {
	return &ane.Error{Op: "listen", Engine: engine, Name: path, Err: err, Detail: detail, Hint: hint}
}

// privateDir opens a folder that only this user can use. A symbolic link in place of the folder is refused.
func privateDir(path string) (*os.File, error) {
	dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, refuseSocket(path, err, "", otherPlace)
	}
	var s unix.Stat_t
	err = unix.Fstat(int(dir.Fd()), &s)
	switch mode := s.Mode & 0o777; {
	case err != nil:
		err = refuseSocket(path, err, "", otherPlace)
	case int64(s.Uid) != int64(os.Geteuid()):
		err = refuseSocket(path, ane.ErrDenied, fmt.Sprintf("belongs to user %d", s.Uid), "use a folder of your own")
	case mode&0o077 != 0:
		err = refuseSocket(path, ane.ErrDenied, fmt.Sprintf("mode %04o lets others in", mode),
			"name a folder of mode 0700; one that does not exist is made so")
	default:
		return dir, nil
	}
	_ = dir.Close() // the first error is the one to report
	return nil, err
}

// at is a short path of the socket. It leads to the folder that was opened, even if the socket's own path leads
// elsewhere by now.
func (l *Listener) at() string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", l.dir.Fd(), filepath.Base(l.path))
}

// alone calls f while no other broker makes or removes a socket in the folder.
func (l *Listener) alone(f func() error) error {
	if err := unix.Flock(int(l.dir.Fd()), unix.LOCK_EX); err != nil {
		return refuseSocket(l.path, err, "", otherPlace)
	}
	defer func() { _ = unix.Flock(int(l.dir.Fd()), unix.LOCK_UN) }() // closing dir does it too
	return f()
}

// bind makes the socket in place of one that no broker serves any more.
func (l *Listener) bind() error {
	info, err := os.Lstat(l.at())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return refuseSocket(l.path, err, "", otherPlace)
	case info.Mode()&fs.ModeSocket == 0:
		return refuseSocket(l.path, fs.ErrExist, "it is no socket", "remove it, or name another path")
	default:
		living, err := net.Dial("unixpacket", l.at())
		if err == nil {
			_ = living.Close() // the broker there is told nothing
		}
		if !errors.Is(err, unix.ECONNREFUSED) {
			return refuseSocket(l.path, ane.ErrInUse, "a broker lives there", "connect to it, or name another path")
		}
		if err := os.Remove(l.at()); err != nil {
			return refuseSocket(l.path, err, "", "remove it, or name another path")
		}
	}
	l.sock, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: l.at(), Net: "unixpacket"})
	if err != nil {
		return refuseSocket(l.path, err, "", otherPlace)
	}
	l.sock.SetUnlinkOnClose(false) // what is there by then may be another's
	if err = os.Chmod(l.at(), 0o600); err == nil {
		l.file, err = os.Lstat(l.at())
	}
	if err != nil {
		return errors.Join(refuseSocket(l.path, err, "", otherPlace), l.sock.Close(), os.Remove(l.at()))
	}
	return nil
}

// Passed returns the files that a service manager passed to this process, as sd_listen_fds(3) says, and removes its
// variables. The package of go-systemd for it has every start of the command begin package crypto/tls, 0.3 ms.
func Passed() (files []*os.File) {
	pid, count := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	for _, v := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(v) // never an error on Linux
	}
	if n, err := strconv.Atoi(count); err == nil && pid == strconv.Itoa(os.Getpid()) {
		for fd := 3; fd < 3+n; fd++ {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed file "+strconv.Itoa(fd)))
		}
	}
	return files
}

// Inherit makes a Listener of the files that a service manager passed to this process, nil of none. The manager passes
// one listening Unix socket of type SOCK_SEQPACKET, in a folder that this user alone may use, as Listen makes it. Its
// file stays when the Listener is closed. Inherit closes the files.
//
// Errors match ane.ErrDenied when the folder is not private, or ane.ErrMismatch when the socket is another one.
func Inherit(files []*os.File) (*Listener, error) {
	if len(files) == 0 {
		return nil, nil
	}
	misfit := func(detail string) error {
		return &ane.Error{Op: "inherit", Engine: engine, Err: ane.ErrMismatch, Detail: detail,
			Hint: "pass one socket: ListenSequentialPacket= with a path in a .socket unit, and Accept=no"}
	}
	listens, _ := unix.GetsockoptInt(int(files[0].Fd()), unix.SOL_SOCKET, unix.SO_ACCEPTCONN) // or the next call says why
	l, err := net.FileListener(files[0])
	for _, f := range files {
		_ = f.Close() // the net package has a descriptor of its own
	}
	if err != nil {
		return nil, misfit(err.Error())
	}
	sock, _ := l.(*net.UnixListener)
	path := l.Addr().String()
	if len(files) > 1 || sock == nil || l.Addr().Network() != "unixpacket" || !filepath.IsAbs(path) {
		return nil, errors.Join(misfit(fmt.Sprintf("%d sockets, the first is %s at %s", len(files),
			l.Addr().Network(), path)), l.Close())
	}
	if listens == 0 {
		return nil, errors.Join(misfit("the socket does not listen"), l.Close())
	}
	dir, err := privateDir(filepath.Dir(path))
	if err != nil {
		return nil, errors.Join(err, sock.Close())
	}
	return &Listener{path: path, sock: sock}, dir.Close()
}

// Close ends the socket and removes it.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.closed = l.sock.Close()
		if l.dir == nil {
			return
		}
		remove := func() error {
			if l.present() {
				return os.Remove(l.at())
			}
			return nil
		}
		l.closed = errors.Join(l.closed, l.alone(remove), l.dir.Close())
	})
	return l.closed
}

// present reports whether the socket's file is the one that was made: no client finds a
// broker whose file was removed or replaced. That of a socket that was passed is not looked at.
func (l *Listener) present() bool {
	if l.file == nil {
		return true
	}
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(l.file, now)
}

// Path is where clients find the socket.
func (l *Listener) Path() string { return l.path }

// lookTime is the time between two looks at the socket's file, while no client connects.
const lookTime = 250 * time.Millisecond

// Accept waits for the next connection. The error matches os.ErrClosed after Close, and ane.ErrClosed when clients no
// longer find the socket. Its lock would then keep another broker from the path. To make the file again would take it
// from the process that replaced it.
func (l *Listener) Accept() (*wire.Conn, error) {
	c, err := l.accept()
	if errors.Is(err, net.ErrClosed) {
		err = errors.Join(os.ErrClosed, err)
	}
	return c, err
}

func (l *Listener) accept() (*wire.Conn, error) {
	for {
		if err := l.sock.SetDeadline(time.Now().Add(lookTime)); err != nil {
			return nil, err
		}
		c, err := l.sock.AcceptUnix()
		switch {
		case err == nil:
			return wire.FromUnix(c)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case l.present():
			continue
		}
		if err := l.sock.SetDeadline(time.Time{}); err != nil { // Close has removed it
			return nil, err
		}
		return nil, &ane.Error{Op: "serve", Engine: engine, Name: l.path, Err: ane.ErrClosed,
			Detail: "the socket's file was removed or replaced", Hint: "start the broker again"}
	}
}
