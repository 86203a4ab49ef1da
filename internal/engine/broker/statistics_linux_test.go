//go:build !macrules

package broker

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/fusetest"
)

// TestStatisticsEndWithTheContext: whatever a call for the counters waits for, it returns when its context ends.
func TestStatisticsEndWithTheContext(t *testing.T) {
	for name, place := range map[string]func(t *testing.T, waits func()) (path string){
		"a broker that reads and does not answer": func(t *testing.T, waits func()) string {
			path, l := listening(t)
			go func() {
				c, err := l.AcceptUnix()
				if err != nil {
					return
				}
				for range 2 { // then the client has gone
					_, _ = c.Read(make([]byte, 1024))
					waits()
				}
				_ = c.Close()
			}()
			return path
		},
		"a frozen broker": func(t *testing.T, waits func()) string {
			path, l := listening(t)
			f, err := l.File()
			require.NoError(t, err)
			t.Cleanup(func() { _ = f.Close() })
			go func() {
				_, _ = unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, -1)
				waits()
			}()
			return path
		},
		"a frozen broker whose queue is full": func(t *testing.T, _ func()) string {
			path, l := listening(t)
			raw, err := l.SyscallConn()
			require.NoError(t, err)
			var short error // a queue of thousands takes as many descriptors
			require.NoError(t, raw.Control(func(fd uintptr) { short = unix.Listen(int(fd), 1) }))
			require.NoError(t, short)
			for full := false; !full; {
				fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
				require.NoError(t, err)
				t.Cleanup(func() { _ = unix.Close(fd) })
				full = errors.Is(unix.Connect(fd, &unix.SockaddrUnix{Name: path}), unix.EAGAIN)
			}
			return path
		},
		"a file system that does not answer": func(t *testing.T, waits func()) string {
			return filepath.Join(fusetest.Mount(t, nil, func(fusetest.Request) bool {
				waits()
				return true
			}), "s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			path := place(t, cancel)
			err := await.Done(t, func() error {
				_, err := Statistics(waiting{ctx, cancel}, path)
				return err
			})
			require.ErrorIs(t, err, ane.ErrDeadline)
		})
	}
}

// waiting is a context that ends when connect waits for room in a socket's queue.
type waiting struct {
	context.Context
	cancel func()
}

func (p waiting) Done() <-chan struct{} {
	var callers [8]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	if f, _ := frames.Next(); strings.HasSuffix(f.Function, ".connect") {
		p.cancel()
	}
	return p.Context.Done()
}

// listening makes a socket that accepts no connection by itself.
func listening(t *testing.T) (path string, l *net.UnixListener) {
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return path, l
}
