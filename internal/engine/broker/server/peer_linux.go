//go:build !macrules

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// identify asks the kernel which process made the connection that fd is an end of. The
// error matches ane.ErrDenied when the broker does not serve it.
//
// The number of a process may pass to another one, so the executable is opened
// while a descriptor of the process shows that it lives: a process found alive
// afterwards is the one whose executable was opened.
//
// Hashing ends with ctx and when the peer has gone.
func identify(ctx context.Context, fd int, seen *hashes) (id Identity, pid int, err error) {
	cred, err := wire.PeerOf(fd)
	if err != nil {
		return Identity{}, 0, refuse("", "the peer's credentials cannot be read", err)
	}
	peer := "process " + strconv.Itoa(cred.PID)
	if cred.Foreign() {
		detail := fmt.Sprintf("user %d, and this broker serves user %d alone", cred.UID, os.Geteuid())
		return Identity{}, 0, refuse(peer, detail, nil)
	}
	alive, err := seen.peers.processOf(fd, cred.PID)
	if err != nil {
		return Identity{}, 0, refuse(peer, "the process has ended or cannot be watched", err)
	}
	defer unix.Close(alive)
	exe, err := unix.Open(exePath(cred.PID), unix.O_PATH|unix.O_CLOEXEC, 0) // does not ask its file system
	if err != nil {
		return Identity{}, 0, refuse(peer, "its executable cannot be read", err)
	}
	defer unix.Close(exe)
	key, err := keyOf(exe, "")
	if err != nil {
		return Identity{}, 0, refuse(peer, "its executable cannot be read", err)
	}
	sum, err := seen.of(ctx, key, exe, fd)
	if fault, ok := errors.AsType[*ane.Error](err); ok {
		fault.Name = peer
		return Identity{}, 0, fault
	}
	if err != nil {
		return Identity{}, 0, refuse(peer, "its executable cannot be read", err)
	}
	if !runs(cred.PID, key) {
		return Identity{}, 0, refuse(peer, "it runs another executable since it connected, or that was changed", nil)
	}
	if ended(alive) {
		return Identity{}, 0, refuse(peer, "the process ended while it was admitted", nil)
	}
	return Identity{User: cred.UID, Executable: sum}, cred.PID, nil
}

// runs reports whether a process runs an executable, which was not changed since it had the key.
func runs(pid int, key hashKey) bool {
	now, err := keyOf(unix.AT_FDCWD, exePath(pid))
	return err == nil && now == key
}

// keyOf is what a file is known by. Where its file system has to be asked, as that of another process or host, the
// kernel tells what it knows: one that does not answer holds up no caller.
func keyOf(fd int, path string) (hashKey, error) {
	var s unix.Statx_t
	err := unix.Statx(fd, path, unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &s)
	if err != nil {
		return hashKey{}, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	nanoseconds := func(t unix.StatxTimestamp) int64 { return t.Sec*int64(time.Second) + int64(t.Nsec) }
	return hashKey{unix.Mkdev(s.Dev_major, s.Dev_minor), s.Ino, int64(s.Size), nanoseconds(s.Mtime),
		nanoseconds(s.Ctime)}, nil
}

// callerOf is the peer's process, as logs name it.
func callerOf(fd int) (p caller) {
	cred, err := wire.PeerOf(fd)
	if err != nil {
		return caller{executable: "unknown"}
	}
	p = caller{pid: cred.PID, user: cred.UID}
	if p.executable, err = os.Readlink(exePath(cred.PID)); err != nil {
		p.executable = "unknown"
	}
	p.file, _ = keyOf(unix.AT_FDCWD, exePath(cred.PID)) // none of a process that has ended
	p.start, _ = startOf(cred.PID)                      // 0 for a process that has ended
	return p
}

// peers finds the processes of connections. The zero value asks the kernel.
type peers struct {
	noted func(fd int) (pidfd int, err error)       // stands for SO_PEERPIDFD, for tests
	open  func(pid int) (pidfd int, err error)      // stands for pidfd_open(2), for tests
	start func(pid int) (ticks uint64, alive error) // stands for startOf, for tests
}

// processOf returns a descriptor of the process at the other end: that which the kernel
// noted when the connection was made (Linux 6.5), or else the one that has its number now,
// if that is one process from before the descriptor is opened until after. A process that
// took the number before that cannot be told from the peer.
func (p *peers) processOf(fd, pid int) (int, error) {
	noted, open, start := p.noted, p.open, p.start
	if noted == nil {
		noted = func(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD) }
	}
	if open == nil {
		open = func(pid int) (int, error) { return unix.PidfdOpen(pid, 0) }
	}
	if start == nil {
		start = startOf
	}
	pidfd, err := noted(fd)
	if !errors.Is(err, unix.ENOPROTOOPT) {
		return pidfd, err
	}
	before, err := start(pid)
	if err != nil {
		return -1, err
	}
	if pidfd, err = open(pid); err != nil {
		return -1, err
	}
	after, err := start(pid)
	if err == nil && before != after {
		err = fmt.Errorf("process %d began at tick %d, and before at %d: the number has passed to another", pid, after,
			before)
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(pidfd))
	}
	return pidfd, nil
}

// startOf reads when a process began, in clock ticks since the system did: field 22 of proc_pid_stat(5). The second
// field, the name in parentheses, may hold any character.
func startOf(pid int) (uint64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	_, rest, found := cutLast(string(text), ")")
	fields := strings.Fields(rest)
	const third, wanted = 3, 22
	if !found || len(fields) <= wanted-third {
		return 0, fmt.Errorf("/proc/%d/stat has the line %q", pid, text)
	}
	return strconv.ParseUint(fields[wanted-third], 10, 64)
}

// cutLast splits s at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// ended reports whether the process of a descriptor has ended.
func ended(pidfd int) bool {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// refuse is the answer to a process that is not admitted.
func refuse(peer, detail string, cause error) error {
	what, hint := ane.ErrDenied, "start a broker of your own, as the same user"
	if errors.Is(cause, unix.EMFILE) || errors.Is(cause, unix.ENFILE) {
		what, hint = ane.ErrExhausted, "connect again, or raise the broker's limit on open files (ulimit -n)"
	}
	return &ane.Error{Op: "admit", Engine: Name, Name: peer, Err: ane.Because(what, cause), Detail: detail, Hint: hint}
}
