//go:build !macrules

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// The longest payload travels with no descriptor but its own.
func TestTheLongestPayload(t *testing.T) {
	a, b := pair(t)
	want := make([]byte, wire.MaxLong)
	want[len(want)-1] = 7
	require.NoError(t, a.Send(wire.Frame{Kind: wire.KindCompile, ID: 3, Payload: want}))
	f, fds, err := b.Receive(buffer())
	require.NoError(t, err)
	require.Empty(t, fds)
	require.Equal(t, want, f.Payload)
}
