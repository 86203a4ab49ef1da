//go:build !macrules

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

// TestCloseDoesNotLinger: closing a descriptor that came, or a Conn over which one came that nothing has received, does
// not wait as long as its sender likes. End closes nothing, and Close after it does.
func TestCloseDoesNotLinger(t *testing.T) {
	for name, receives := range map[string]bool{"received": true, "in the queue": false} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			fd := lingering(t)
			require.NoError(t, a.Send(wire.Frame{Kind: wire.KindPing, ID: 1}, fd))
			require.NoError(t, unix.Close(fd))
			var fds wire.Descriptors
			if receives {
				var err error
				_, fds, err = b.Receive(make([]byte, wire.MaxFrame))
				require.NoError(t, err)
			}
			await.Done(t, func() error {
				fds.Close()
				b.End()
				return b.Close()
			})
		})
	}
	a, b := pair(t)
	b.End()
	require.ErrorIs(t, b.Control(func(int) error { return nil }), wire.ErrClosed)
	_, _, err := a.Receive(make([]byte, wire.MaxFrame))
	require.ErrorIs(t, err, wire.ErrClosed)
	b.End()
	require.NoError(t, b.Close())
	b.End()
}

// lingering is a descriptor whose last close waits for an hour: a TCP socket with bytes that the other end, which is
// open until the test ends, does not read.
func lingering(t *testing.T) (fd int) {
	t.Helper()
	fd, far, err := wiretest.Lingering()
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close() })
	return fd
}
