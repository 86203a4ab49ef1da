//go:build !macrules

package wire_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/leaktest"
)

// FuzzReceive sends any packet with any number of descriptors past Conn: what arrives is the
// packet, or an error that closed everything, and the next frame arrives.
func FuzzReceive(f *testing.F) {
	leaktest.SkipEmulated(f) // qemu loses what does not fit into a control message
	frame := wire.Frame{Kind: wire.KindEvaluate, ID: 1, Payload: wire.Append(nil, &wire.Evaluate{})}
	f.Add(frame.Append(nil), uint8(0), uint32(wire.MaxFrame-1))
	f.Add(frame.Append(nil), uint8(16), uint32(64))
	f.Add(frame.Append(nil), uint8(17), uint32(40))
	f.Add(wire.Frame{Kind: wire.KindCompile, Flags: wire.FlagLong}.Append(nil), uint8(1), uint32(100))
	f.Add([]byte{}, uint8(3), uint32(24))
	f.Fuzz(func(t *testing.T, packet []byte, count uint8, size uint32) {
		c, peer := raw(t)
		next := wire.Frame{Kind: wire.KindPing, ID: 77}.Append(nil)
		steady(t, func() {
			if push(peer, packet, int(count)) != nil {
				return // beyond what the system takes
			}
			got, fds, err := c.Receive(make([]byte, min(max(int(size), wire.HeaderSize), 2*wire.MaxFrame)))
			if len(packet) == 0 && errors.Is(err, wire.ErrClosed) {
				return // it looks like the end of the connection
			}
			if err == nil {
				require.Len(t, fds, int(count))
				require.Equal(t, string(packet), string(got.Append(nil)))
			} else {
				require.NotErrorIs(t, err, wire.ErrClosed)
				require.Nil(t, fds)
			}
			fds.Close()
			require.NoError(t, unix.Send(peer, next, 0))
			got, _, err = c.Receive(buffer())
			require.NoError(t, err)
			require.EqualValues(t, 77, got.ID)
		})
	})
}
