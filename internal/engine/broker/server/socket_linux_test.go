//go:build !macrules

package server

import (
	"context"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
)

// TestSocketGone: a broker whose socket was removed or replaced ends and says why, and
// leaves what took its place.
func TestSocketGone(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		path := socket(t)
		l, err := shared.Listen(path)
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- Serve(context.Background(), l, patient(Config{Stay: true})) }()
		dial(t, path)
		require.NoError(t, os.Remove(path))
		if replaced {
			other, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
			require.NoError(t, err)
			defer other.Close()
		}
		err = <-done
		require.ErrorIs(t, err, ane.ErrClosed)
		require.ErrorContains(t, err, "removed or replaced")
		if replaced {
			require.FileExists(t, path)
		} else {
			require.NoFileExists(t, path)
		}
	}
}
