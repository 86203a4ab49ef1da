//go:build macrules && linux && cgo

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
)

// Under the Mac's rules surfaces come from the stand-in's library, in the folder of the bridge. A failure is not kept.
func TestSystemIsTheStandIn(t *testing.T) {
	dir := bridgetest.Build(t)
	t.Setenv("ANEKIT_BRIDGE_DIR", t.TempDir())
	_, err := dynamic.System()
	require.ErrorContains(t, err, "libstandinsurface.so")
	require.ErrorContains(t, err, "make bridge")
	t.Setenv("ANEKIT_BRIDGE_DIR", dir)
	table, err := dynamic.System()
	require.NoError(t, err)
	again, err := dynamic.System()
	require.NoError(t, err)
	require.Same(t, table, again)
}
