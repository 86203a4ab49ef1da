package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
)

// The receipt of an engine without the choice notes what was asked for, and names no residency.
func TestResidencyOfSoft(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for _, asked := range []ane.Residency{ane.DefaultResidency, ane.Wired, ane.Pageable} {
		m, err := d.Compile(t.Context(), ane.Source{Text: scale(2), Residency: asked})
		require.NoError(t, err)
		r := m.Receipt()
		require.Equal(t, ane.DefaultResidency, r.Residency)
		if asked == ane.DefaultResidency {
			require.Empty(t, r.Notes)
		} else {
			require.Equal(t, []string{"the engine does not offer " + string(asked) + " memory for programs"}, r.Notes)
		}
		require.NoError(t, m.Close(t.Context()))
	}
}
