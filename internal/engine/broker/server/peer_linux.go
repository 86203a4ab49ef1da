//go:build !macrules

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

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
func identify(ctx context.Context, fd int, seen *hashes) (Identity, error) {
	cred, err := wire.PeerOf(fd)
	if err != nil {
		return Identity{}, refuse("", "the peer's credentials cannot be read", err)
	}
	peer := "process " + strconv.Itoa(cred.PID)
	if cred.Foreign() {
		detail := fmt.Sprintf("user %d, and this broker serves user %d alone", cred.UID, os.Geteuid())
		return Identity{}, refuse(peer, detail, nil)
	}
	alive, err := processOf(fd, cred.PID)
	if err != nil {
		return Identity{}, refuse(peer, "the process has ended or cannot be watched", err)
	}
	defer unix.Close(alive)
	exe, err := os.Open(exePath(cred.PID))
	if err != nil {
		return Identity{}, refuse(peer, "its executable cannot be read", err)
	}
	defer exe.Close()
	sum, err := seen.of(ctx, exe)
	if fault, ok := errors.AsType[*ane.Error](err); ok {
		fault.Name = peer
		return Identity{}, fault
	}
	if err != nil {
		return Identity{}, refuse(peer, "its executable cannot be read", err)
	}
	if ended(alive) {
		return Identity{}, refuse(peer, "the process ended while it was admitted", nil)
	}
	return Identity{User: cred.UID, Executable: sum}, nil
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
	return p
}

// processOf returns a descriptor of the process at the other end: that which the kernel noted when the connection was
// made (Linux 6.5), or else the one that has its number now.
func processOf(fd, pid int) (int, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return unix.PidfdOpen(pid, 0)
	}
	return pidfd, err
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
