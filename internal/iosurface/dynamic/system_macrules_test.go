//go:build macrules && linux && cgo

package dynamic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
)

// Under the Mac's rules surfaces come from the stand-in's library, in the folder of the bridge. A failure is not kept.
func TestSystemIsTheStandIn(t *testing.T) {
	dir := bridgetest.Build(t)
	before := system.table // other tests use it
	system.table = nil
	t.Cleanup(func() { system.table = before })
	t.Setenv("ANEKIT_BRIDGE_DIR", t.TempDir())
	_, err := System()
	require.ErrorContains(t, err, "libstandinsurface.so")
	require.ErrorContains(t, err, "make bridge")
	t.Setenv("ANEKIT_BRIDGE_DIR", dir)
	table, err := System()
	require.NoError(t, err)
	again, err := System()
	require.NoError(t, err)
	require.Same(t, table, again)
}
