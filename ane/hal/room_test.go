package hal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/engine/wrap"
	"github.com/anekit/anekit/unimem"
)

// A Buffer has the size asked for, on a Block as large as the engine wants.
func TestBuffersOnSurfacesAsLargeAsTheEngineWants(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(wrap.Roomy))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	h, err := hal.NewDevice(d)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(t.Context())) }()
	before := unimem.Live().Bytes
	b, err := h.NewBuffer(100)
	require.NoError(t, err)
	require.Equal(t, 100, b.Size())
	require.Len(t, b.Bytes(), 100)
	require.EqualValues(t, 48<<10, unimem.Live().Bytes-before)
	require.NoError(t, b.Close())
	_, err = h.NewBuffer(0)
	require.ErrorIs(t, err, unimem.ErrZeroSize)
}
