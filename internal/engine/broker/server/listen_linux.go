//go:build !macrules

package server

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
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
)

// Listener is a socket that clients connect to, with the lock that makes its
// broker the only one. Close may be called at any time and more than once.
type Listener struct {
	sock *net.UnixListener
	path string
	dir  *os.File // the folder, which cannot be exchanged while it is open
	name string   // of the socket in dir
	lock *os.File
	made fs.FileInfo // of the socket's file

	inherited bool // the socket's file belongs to the process that passed the socket

	once   sync.Once
	over   atomic.Bool // Close was called
	closed error
}

// longestName is how long the name of a socket may be without its folder, which at puts
// before it: sun_path of sockaddr_un has 108 bytes.
const longestName = 80

// backlog is how many connections may wait to be accepted.
const backlog = 64

// Listen makes the socket of a shared broker at path, for this user alone. The
// folder is made when it is missing; it has to be a real one of ours with mode
// 0700, so that no other user can reach the socket or exchange it. What a broker
// that was killed left is replaced.
//
// Errors match ane.ErrInUse when a broker lives there, ane.ErrDenied when the
// folder is not private, or what the system reported.
func Listen(path string) (*Listener, error) {
	l := &Listener{path: path, name: filepath.Base(path)}
	if err := l.open(); err != nil {
		_ = l.drop() // the first error is the one to report
		var known *ane.Error
		if errors.As(err, &known) {
			return nil, err
		}
		return nil, l.fault(err, "", "name a path in a private folder, such as one in $XDG_RUNTIME_DIR")
	}
	return l, nil
}

func (l *Listener) open() error {
	switch {
	case l.path == "" || strings.HasSuffix(l.path, "/") || l.name == "." || l.name == "..":
		return l.fault(fs.ErrInvalid, "no name of a socket",
			"name a path in a private folder, such as one in $XDG_RUNTIME_DIR")
	case len(l.name) > longestName:
		return l.fault(fs.ErrInvalid, fmt.Sprintf("a name of %d bytes, at most %d; the folder's may be longer",
			len(l.name),
			longestName), "name the socket shorter")
	}
	if err := l.openDir(); err != nil {
		return err
	}
	if err := l.takeLock(); err != nil {
		return err
	}
	if err := l.clear(); err != nil {
		return err
	}
	return l.bind()
}

// openDir opens the folder of the socket and makes sure that it is private.
func (l *Listener) openDir() error {
	dir, err := privateDir(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	l.dir = dir
	return nil
}

// at is a path of the folder's entry that does not depend on what its own path
// leads to by now, and is short whatever the folder is called.
func (l *Listener) at(name string) string {
	return "/proc/self/fd/" + strconv.Itoa(int(l.dir.Fd())) + "/" + name
}

// takeLock takes the lock beside the socket, which only a living broker holds.
func (l *Listener) takeLock() error {
	for {
		f, err := os.OpenFile(l.at(l.name+".lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			_ = f.Close() // the lock is what failed
			if errors.Is(err, unix.EWOULDBLOCK) {
				return l.live()
			}
			return err
		}
		// Its last holder may have removed the file between open and lock.
		mine, err := f.Stat()
		if err == nil {
			var now fs.FileInfo
			if now, err = os.Lstat(l.at(l.name + ".lock")); err == nil && os.SameFile(mine, now) {
				l.lock = f
				return nil
			}
		}
		_ = f.Close() // a lock on nothing
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// clear removes a socket that no broker serves any more.
func (l *Listener) clear() error {
	info, err := os.Lstat(l.at(l.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return l.fault(fs.ErrExist, "it is no socket", "remove it, or name another path")
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: l.at(l.name)})
	if !errors.Is(err, unix.ECONNREFUSED) {
		return l.live()
	}
	return os.Remove(l.at(l.name))
}

// bind makes the socket, which no other user may connect to from its first moment.
func (l *Listener) bind() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), l.path)
	defer f.Close() // the net package has a descriptor of its own
	if err := unix.Fchmod(fd, 0o600); err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: l.at(l.name)}); err != nil {
		return err
	}
	if l.made, err = os.Lstat(l.at(l.name)); err != nil {
		return err
	}
	err = unix.Listen(fd, backlog)
	if err == nil {
		var sock net.Listener
		if sock, err = net.FileListener(f); err == nil {
			l.sock = sock.(*net.UnixListener)
			return nil
		}
	}
	return errors.Join(err, os.Remove(l.at(l.name)))
}

func (l *Listener) live() error {
	return l.fault(ane.ErrInUse, "a broker lives there", "connect to it, or name another path")
}

func (l *Listener) fault(err error, detail, hint string) error {
	return &ane.Error{Op: "listen", Engine: Name, Name: l.path, Err: err, Detail: detail, Hint: hint}
}

// Close ends the socket and removes it together with its lock.
func (l *Listener) Close() error {
	l.over.Store(true)
	l.once.Do(func() { l.closed = l.drop() })
	return l.closed
}

// drop gives back what open has got so far. Files are removed while the lock is
// held, so that they are never those of the next broker.
func (l *Listener) drop() error {
	var errs []error
	if l.sock != nil {
		if !l.inherited && l.present() {
			errs = append(errs, os.Remove(l.at(l.name)))
		}
		errs = append(errs, l.sock.Close())
	}
	if l.lock != nil {
		if l.locks() {
			errs = append(errs, os.Remove(l.at(l.name+".lock")))
		}
		errs = append(errs, l.lock.Close())
	}
	if l.dir != nil {
		errs = append(errs, l.dir.Close())
	}
	return errors.Join(errs...)
}

// locks reports whether the file of the lock is the one that was locked: another broker may have made its own since
// that was removed.
func (l *Listener) locks() bool {
	mine, err := l.lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(l.at(l.name + ".lock"))
	return err == nil && os.SameFile(mine, now)
}

// present reports whether the socket's file is the one that was made: no client finds a
// broker whose file was removed or replaced. An inherited socket's file is not looked at.
func (l *Listener) present() bool {
	if l.inherited {
		return true
	}
	now, err := os.Lstat(l.path)
	return err == nil && os.SameFile(l.made, now)
}

// shut reports whether the socket was shut down, as each process that has it may do. It takes no connections then, and
// accept waits all the same.
func (l *Listener) shut() bool {
	raw, err := l.sock.SyscallConn()
	if err != nil {
		return false
	}
	shut := false
	_ = raw.Control(func(fd uintptr) { // fails when l is closed
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		shut = err == nil && n > 0 && p[0].Revents&unix.POLLRDHUP != 0
	})
	return shut
}

// lost tells why no client can reach the broker any more, and what to do: nothing while they can.
func (l *Listener) lost() (detail, hint string) {
	switch {
	case !l.present():
		return "the socket's file was removed or replaced", "start the broker again"
	case l.shut() && l.inherited:
		return "the socket was shut down", "restart its .socket unit, or the process that passed it"
	case l.shut():
		return "the socket was shut down", "start the broker again"
	}
	return "", ""
}

// ended reports whether Close was called.
func (l *Listener) ended() bool { return l.over.Load() }

// Path is where clients find the socket.
func (l *Listener) Path() string { return l.path }

// accept waits for the next connection. The caller owns its descriptor.
func (l *Listener) accept() (fd int, err error) {
	c, err := l.sock.AcceptUnix()
	if err != nil {
		return -1, err
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var dup error
	err = raw.Control(func(s uintptr) { fd, dup = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dup); err != nil {
		return -1, err
	}
	return fd, nil
}
