//go:build linux && cgo

package trial

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

func TestPinning(t *testing.T) {
	path := filepath.Join(bridgetest.Build(t), bridgetest.Surface)
	lib, err := dynamic.Load(path, path)
	require.NoError(t, err)
	for want, opts := range map[string][]unimem.Option{
		unknown: {blockoption.On(lib)}, notPinned: {unimem.OnHeap()},
	} {
		b, err := unimem.Open(1, opts...)
		require.NoError(t, err)
		require.Equal(t, want, Pinning(b))
		require.NoError(t, b.Close())
	}
	b, err := unimem.Open(1)
	require.NoError(t, err)
	require.Equal(t, b.Pinned(), Pinning(b) == pinned)
	require.NoError(t, b.Close())
	require.Equal(t, "not known to be pinned", Words(unknown))
	require.Equal(t, pinned, Words(pinned))
}
