package decoder

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/engine/wrap"
)

// On an engine that wants larger surfaces a session makes all of one size, those of the cache too.
func TestSurfacesAsLargeAsTheEngineWants(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Positions: 300})
	require.NoError(t, err)
	d, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(wrap.Roomy))
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	f, err := Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	m, err := Load(t.Context(), d, f, Context(40), Chunk(32))
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(context.Background())) }()
	s, err := m.NewSession()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.NoError(t, s.Prefill(t.Context(), []int{1, 2, 3}))

	sizes := map[int]bool{}
	see := func(r *ane.Request, of *ane.Model) {
		for _, l := range of.Inputs() {
			sizes[r.Input(l.Name).Block().Size()] = true
		}
		for _, l := range of.Outputs() {
			sizes[r.Output(l.Name).Block().Size()] = true
		}
	}
	for _, p := range s.passes {
		for i, r := range p.requests {
			see(r, p.set.models[i])
		}
	}
	for _, list := range [][]*ane.Request{s.direct, s.apart} {
		for i, r := range list {
			see(r, m.head.models[i])
		}
	}
	require.Len(t, sizes, 1)
	for n := range sizes {
		require.GreaterOrEqual(t, n, 48<<10)
	}
}
