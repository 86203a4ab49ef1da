//go:build !macrules

package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// dial connects to the broker that listens at path, until ctx ends. A broker of another user is
// refused: it would be given this process's memory. A file system that does not answer holds up
// the calls of the system for as long as it likes.
func dial(ctx context.Context, path string) (int, error) {
	return outlast(ctx, func() (int, error) {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return -1, os.NewSyscallError("socket", err)
		}
		if err := connect(ctx, fd, path); err != nil {
			return -1, errors.Join(err, unix.Close(fd))
		}
		return fd, nil
	}, func(fd int, err error) {
		if err == nil {
			_ = unix.Close(fd) // nothing was sent
		}
	})
}

// longestPath is how long the path of a socket may be: sun_path of sockaddr_un, with the
// zero after it.
const longestPath = 107

// queueWait is the pause between two calls to a broker whose queue of new
// connections is full.
const queueWait = 5 * time.Millisecond

// connect connects fd. A path that does not fit into an address goes by a descriptor of its folder, as that of the
// broker that listens there.
func connect(ctx context.Context, fd int, path string) error {
	address := &unix.SockaddrUnix{Name: path}
	if len(path) > longestPath {
		dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
		}
		defer unix.Close(dir)
		address.Name = fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path))
	}
	for err := unix.Connect(fd, address); err != nil; err = unix.Connect(fd, address) {
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "connect", Path: path, Err: err}
		}
		select {
		case <-time.After(queueWait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	peer, err := wire.PeerOf(fd)
	if err == nil && peer.Foreign() {
		err = fmt.Errorf("%s belongs to a broker of user %d", path, peer.UID)
	}
	return err
}

// waitReadable waits until fd has something to read, or its other end has gone,
// or a signal came.
func waitReadable(fd int) error {
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
	return err
}

// Probe tells why no process of this system can be a broker or its client, or returns nil: memory is passed between
// them in memfds.
func Probe() error {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	switch {
	case err == nil:
		_ = unix.Close(fd) // of a file without bytes
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EINVAL):
		return &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
			Detail: "the kernel, or a filter of system calls, refuses memfd_create",
			Hint:   "permit that call in the filter (seccomp), run on Linux 3.17 or later, or use the engine soft"}
	}
	return nil // what else is wrong, Open finds out
}
