package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// TestLoadIsRetried: a failed load is tried once more before anything is removed. If it
// fails again, the program is purged, compiled and loaded, once.
func TestLoadIsRetried(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	for name, c := range map[string]struct {
		kind              standin.FaultKind
		refusals, compile int
	}{
		"once":             {standin.NoError, 1, 0},
		"twice":            {standin.NoError, 2, 1},
		"three times":      {standin.NoError, 3, 1},
		"without an error": {standin.No, 1, 0},
		"twice, no error":  {standin.No, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			n := fresh()
			newRig(t, e, n) // puts the program into the cache
			before := f.Counts().Compiles
			require.NoError(t, f.Fault(selLoad, c.kind, c.refusals, 10))
			x, err := e.Compile(t.Context(), ane.Source{File: "cached.mil", Text: text(n)})
			require.NoError(t, err)
			require.EqualValues(t, c.compile, f.Counts().Compiles-before)
			require.NoError(t, x.Close())

			errs := e.Met()
			require.NotEmpty(t, errs)
			for _, m := range errs {
				require.True(t, m.Recovered)
				require.Equal(t, objcbridge.StageLoad, m.Err.Stage)
			}
		})
	}
}

// TestReloadIsRetried: the same after an Unload.
func TestReloadIsRetried(t *testing.T) {
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
