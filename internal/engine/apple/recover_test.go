package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// A load that is refused is tried once more before anything is removed; then the program
// is purged, compiled and loaded again, once.
func TestARefusedLoadIsNotTheEnd(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	for name, c := range map[string]struct {
		kind              standin.FaultKind
		refusals, compile int
	}{
		"once":            {standin.NoError, 1, 0},
		"twice":           {standin.NoError, 2, 1},
		"three times":     {standin.NoError, 3, 1},
		"without a word":  {standin.No, 1, 0},
		"twice, no words": {standin.No, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			n := fresh()
			newRig(t, e, n) // so that the cache has it
			before := f.Counts().Compiles
			require.NoError(t, f.Fault(selLoad, c.kind, c.refusals, 10))
			x, err := e.Compile(t.Context(), ane.Source{File: "cached.mil", Text: text(n)})
			require.NoError(t, err)
			require.EqualValues(t, c.compile, f.Counts().Compiles-before)
			require.NoError(t, x.Close())

			met := e.Met()
			require.NotEmpty(t, met)
			for _, m := range met {
				require.True(t, m.Recovered)
				require.Equal(t, objcbridge.StageLoad, m.Err.Stage)
			}
		})
	}
}

// So it is after an Unload.
func TestARefusedReloadIsNotTheEnd(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	r := newRig(t, open(t), 55)
	for _, refusals := range []int{1, 2, 3} {
		require.NoError(t, r.model.Unload(t.Context()))
		require.NoError(t, f.Fault(selLoad, standin.NoError, refusals, 16))
		require.NoError(t, r.model.Load(t.Context()))
		require.NoError(t, r.run(t.Context(), 1, 55))
	}
}
