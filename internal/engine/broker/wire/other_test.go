//go:build !linux || macrules

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Where there are no such sockets, everything that would open one says so.
func TestUnsupported(t *testing.T) {
	_, conn := wire.NewConn(0)
	_, seal := wire.Seal("x")
	_, read := wire.ReadSealed(0, 1)
	_, kept := wire.KeepSealed(0, 1)
	for _, err := range []error{conn, seal, read, kept} {
		require.ErrorIs(t, err, ane.ErrUnavailable)
	}
}
