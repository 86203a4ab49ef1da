package apple_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/unimem"
)

// TestLocksOfTwinBlocks: two Blocks on one surface have different IOSurfaceRefs, because a
// lookup makes another one, and two locks. A run on either releases both.
func TestLocksOfTwinBlocks(t *testing.T) {
	f := framework(t)
	require.NoError(t, f.Fault(selEvaluate, standin.Locked, -1, 0))
	defer f.ClearFaults()
	e := open(t)
	require.True(t, e.Relocks())
	r := newRig(t, e, 1, f.Surfaces())
	held := f.SurfaceCounts().Locks

	b, err := unimem.AdoptSurface(r.y.Block().ID(), r.y.Block().Size(), f.Surfaces())
	require.NoError(t, err)
	require.NotEqual(t, r.y.Block().Handle(), b.Handle())
	twin, err := ane.OnBlock(b, r.y.Layout())
	require.NoError(t, err)
	q, err := r.model.Bind(map[string]*ane.Tensor{"x": r.x}, map[string]*ane.Tensor{"y": twin})
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, r.run(t.Context(), float32(i), 1), "through the Block that made the surface")
		_, err = r.model.Evaluate(t.Context(), q)
		require.NoError(t, err, "through the other")
		require.Equal(t, held+1, f.SurfaceCounts().Locks, "every Block has its lock again")
	}
	require.NoError(t, q.Close())
	require.NoError(t, b.Close())
	require.Equal(t, held, f.SurfaceCounts().Locks)
	require.NoError(t, r.run(t.Context(), 7, 1), "the other Block is gone")
	require.Equal(t, held, f.SurfaceCounts().Locks)
}

// TestLockOfTwinThatClosesUnlocked: a lock that a run could not take again is taken before
// its Block releases it, and the other Block's lock stays as it was.
func TestLockOfTwinThatClosesUnlocked(t *testing.T) {
	f := framework(t)
	require.NoError(t, f.Fault(selEvaluate, standin.Locked, -1, 0))
	defer f.ClearFaults()
	r := newRig(t, open(t), 1, f.Surfaces())
	held := f.SurfaceCounts().Locks
	b, err := unimem.AdoptSurface(r.x.Block().ID(), r.x.Block().Size(), f.Surfaces())
	require.NoError(t, err)
	twin, err := ane.OnBlock(b, r.x.Layout())
	require.NoError(t, err)
	q, err := r.model.Bind(map[string]*ane.Tensor{"x": twin}, map[string]*ane.Tensor{"y": r.y})
	require.NoError(t, err)
	require.NoError(t, r.run(t.Context(), 1, 1))
	require.NoError(t, f.FailSurface("IOSurfaceLock", 2))
	require.ErrorIs(t, r.run(t.Context(), 2, 1), ane.ErrEngine)
	require.Equal(t, held, f.SurfaceCounts().Locks, "one lock of the surface is missing")
	require.NoError(t, q.Close())
	require.NoError(t, b.Close())
	require.NoError(t, r.run(t.Context(), 3, 1))
	require.Equal(t, held, f.SurfaceCounts().Locks)
}
