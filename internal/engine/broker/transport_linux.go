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

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// dial connects to the broker that listens at path, until ctx ends. A broker of another user is
// refused: it would be given this process's memory.
func dial(ctx context.Context, path string) (int, error) {
	type end struct {
		fd  int
		err error
	}
	done := make(chan end)
	go func() { // a file system that does not answer holds up the calls of the system for as long as it likes
		fd, err := dialNow(ctx, path)
		select {
		case done <- end{fd, err}:
		case <-ctx.Done():
			if err == nil {
				_ = unix.Close(fd) // nothing was sent
			}
		}
	}()
	select {
	case e := <-done:
		return e.fd, e.err
	case <-ctx.Done():
		return -1, ctx.Err()
	}
}

// dialNow is dial. Looking the path up may outlast ctx.
func dialNow(ctx context.Context, path string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	short, done, err := reachable(path)
	if err == nil {
		err = connect(ctx, fd, path, short)
		done()
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// longestPath is how long the path of a socket may be: sun_path of sockaddr_un, with the
// zero after it.
const longestPath = 107

// reachable is a path of the socket that fits into its address, until done is called: a
// long one goes by a descriptor of its folder, as that of the broker that listens there.
func reachable(path string) (short string, done func(), err error) {
	if len(path) <= longestPath {
		return path, func() {}, nil
	}
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir, filepath.Base(path)), func() { _ = unix.Close(dir) }, nil
}

// queueWait is the pause between two calls to a broker whose queue of new
// connections is full.
const queueWait = 5 * time.Millisecond

func connect(ctx context.Context, fd int, path, short string) error {
	for {
		err := unix.Connect(fd, &unix.SockaddrUnix{Name: short})
		if err == nil {
			break
		}
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
	if err != nil {
		return err
	}
	if peer.Foreign() {
		return fmt.Errorf("%s belongs to a broker of user %d", path, peer.UID)
	}
	return unix.SetNonblock(fd, false)
}

// absent reports whether no broker listens at a socket.
func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED)
}

// waitReadable waits until fd has something to read, or its other end has gone,
// or a signal came.
func waitReadable(fd int) {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	_, _ = unix.Poll(p, -1) // the next read finds out what there is
}

// hungUp reports whether the other end of fd has gone.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}

// hangUp ends the connection in both directions: a caller that waits for fd sees it.
// The descriptor stays taken until it is closed.
func hangUp(fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) } // fails only when it is ended already
