//go:build !macrules

package wire_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
)

// A process that is killed is noticed, with and without a call waiting.
func TestPeerKilled(t *testing.T) {
	leaktest.SkipEmulated(t)
	c, peer := wiretest.PairFile(t)
	child := start(t, "echo", peer)
	require.NoError(t, c.Send(wire.Frame{Kind: wire.KindPing, ID: 4}))
	f, _, err := c.Receive(buffer())
	require.NoError(t, err)
	require.EqualValues(t, 4, f.ID)
	require.ErrorIs(t, await.Done(t, func() error {
		if err := child.Process.Kill(); err != nil {
			return err
		}
		_, _, err := c.Receive(buffer())
		return err
	}), wire.ErrClosed)
	require.Error(t, child.Wait(), "killed")
	require.ErrorIs(t, c.Send(wire.Frame{Kind: wire.KindPing}), wire.ErrClosed)
	require.NoError(t, c.Close())
}

func TestDial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	steady(t, func() {
		c, err := wiretest.Dial(path)
		require.NoError(t, err)
		u, err := l.AcceptUnix()
		require.NoError(t, err)
		s, err := wire.FromUnix(u)
		require.NoError(t, err)
		require.NoError(t, c.Send(wire.Frame{Kind: wire.KindHello, ID: 1}))
		f, _, err := s.Receive(buffer())
		require.NoError(t, err)
		require.EqualValues(t, 1, f.ID)
		require.NoError(t, s.Close())
		require.NoError(t, c.Close())
	})
	require.NoError(t, l.Close())
}
