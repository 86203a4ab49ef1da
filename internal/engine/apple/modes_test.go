package apple_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// TestLockedSurfaces: if the engine does not see changes to surfaces that the CPU
// holds locked, they are unlocked for each run, the receipt reports it, and results
// are right.
func TestLockedSurfaces(t *testing.T) {
	f := framework(t)
	require.False(t, open(t).Relocks())

	require.NoError(t, f.Fault(selEvaluate, standin.Locked, -1, 0))
	defer f.ClearFaults()
	e := open(t)
	require.True(t, e.Relocks())
	require.Contains(t, e.Info().Sharing, "unlocked")
	locks := f.SurfaceCounts().Locks
	a := newRig(t, e, 1)
	b := newRig(t, e, 2, f.Surfaces())
	require.Contains(t, a.model.Receipt().Notes[0], "unlocked")
	for i := range 5 {
		require.NoError(t, a.run(t.Context(), float32(i), 1))
		require.NoError(t, b.run(t.Context(), float32(i), 2))
	}
	require.Equal(t, locks+4, f.SurfaceCounts().Locks, "every surface is locked again")

	// Two requests that share an input run concurrently.
	second, err := a.model.Bind(map[string]*ane.Tensor{"x": a.x},
		map[string]*ane.Tensor{"y": a.tensor(a.model.Outputs()[0], nil)})
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		var errs []error
		for range 200 {
			_, err := a.model.Evaluate(context.Background(), second)
			errs = append(errs, err)
		}
		done <- errors.Join(errs...)
	}()
	for range 200 {
		_, err := a.model.Evaluate(context.Background(), a.request)
		require.NoError(t, err)
	}
	require.NoError(t, <-done)
	require.NoError(t, second.Close())
}

// TestOpenFailsOnWrongAnswer: if both modes give a wrong answer, the engine is
// unavailable.
func TestOpenFailsOnWrongAnswer(t *testing.T) {
	f := framework(t)
	require.NoError(t, f.Fault(selEvaluate, standin.No, -1, 0))
	defer f.ClearFaults()
	_, err := apple.Open(t.Context(), f.Config())
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, "known-answer")
	var b *objcbridge.Error
	require.ErrorAs(t, err, &b)
}

// TestOpeningHasADeadline: if the framework hangs while the engine opens, Open
// returns ErrDeadline. The engine releases its memory when the call returns.
func TestOpeningHasADeadline(t *testing.T) {
	f := framework(t)
	open(t) // puts the known program into the cache
	for _, selector := range []string{selText, selLoad, selEvaluate} {
		t.Run(selector, func(t *testing.T) {
			allReturned(t)
			before := unimem.Live()
			require.NoError(t, f.Fault(selector, standin.Hang, 1, 0))
			_, err := apple.Open(hanging(t, f, 1), f.Config())
			require.ErrorIs(t, err, ane.ErrDeadline)
			require.ErrorIs(t, err, ane.ErrUnavailable)
			f.ClearFaults()
			await.Until(t, "the memory is released", func() bool { return unimem.Live() == before })
		})
	}
}

// TestAbandonedRunBlocksModel: a Model with an abandoned run stays usable: other
// calls wait for the run.
func TestAbandonedRunBlocksModel(t *testing.T) {
	f := framework(t)
	r := newRig(t, open(t), 1)
	require.NoError(t, f.Fault(selEvaluate, standin.Hang, 1, 0))
	defer f.ClearFaults()
	require.ErrorIs(t, r.run(hanging(t, f, 1), 1, 1), ane.ErrDeadline)

	stuck(t, func(ctx context.Context) error { return r.run(ctx, 1, 1) })
	stuck(t, r.model.Unload)
	f.ReleaseHangs()
	require.NoError(t, r.run(t.Context(), 2, 1))
}

// TestAbandonedRunHoldsBlocks: an abandoned run holds its Blocks until it returns,
// even if its request is closed.
func TestAbandonedRunHoldsBlocks(t *testing.T) {
	f := framework(t)
	e := open(t)
	x, err := e.Compile(t.Context(), ane.Source{File: "add.mil", Text: text(1)})
	require.NoError(t, err)
	in, err := unimem.Open(x.Inputs()[0].Bytes())
	require.NoError(t, err)
	out, err := unimem.Open(x.Outputs()[0].Bytes())
	require.NoError(t, err)
	a, err := ane.OnBlock(in, x.Inputs()[0])
	require.NoError(t, err)
	b, err := ane.OnBlock(out, x.Outputs()[0])
	require.NoError(t, err)
	v, err := x.Prepare([]*ane.Tensor{a}, []*ane.Tensor{b})
	require.NoError(t, err)
	require.NoError(t, f.Fault(selEvaluate, standin.Hang, 1, 0))
	require.ErrorIs(t, v.Evaluate(hanging(t, f, 1)), ane.ErrDeadline)
	require.NoError(t, v.Close())
	require.NoError(t, x.Close())
	require.ErrorIs(t, in.Close(), unimem.ErrInUse)
	require.ErrorIs(t, out.Close(), unimem.ErrInUse)
	f.ClearFaults()
	require.NoError(t, closed(in, never))
	require.NoError(t, closed(out, never))
}

// TestLoadAfterPurge: Load compiles a program again that the framework has purged.
func TestLoadAfterPurge(t *testing.T) {
	f := framework(t)
	r := newRig(t, open(t), 77)
	require.NoError(t, r.model.Unload(t.Context()))
	f.PurgeAll()
	compiled := f.Counts().Compiles
	require.NoError(t, r.model.Load(t.Context()))
	require.Equal(t, compiled+1, f.Counts().Compiles)
	require.NoError(t, r.run(t.Context(), 1, 77), "the request is still bound")

	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, r.model.Load(t.Context()))
	require.Equal(t, compiled+1, f.Counts().Compiles, "from the cache")
}

// TestModelsOfOneText: Models of one text share a folder of files, and closing one
// leaves the files of the others.
func TestModelsOfOneText(t *testing.T) {
	f := framework(t)
	e := open(t)
	n := fresh()
	a, b := newRig(t, e, n), newRig(t, e, n)
	require.False(t, a.model.Receipt().Cached)
	require.True(t, b.model.Receipt().Cached)
	require.NoError(t, a.model.Unload(t.Context()))
	require.NoError(t, b.run(t.Context(), 1, float32(n)))
	require.NoError(t, a.model.Load(t.Context()))
	f.PurgeAll()
	require.NoError(t, b.model.Unload(t.Context()))
	require.NoError(t, b.model.Load(t.Context()))
	require.NoError(t, a.run(t.Context(), 2, float32(n)))
	require.NoError(t, b.run(t.Context(), 3, float32(n)))
}

func TestFailedCompileLeavesNoFiles(t *testing.T) {
	f := framework(t)
	e := open(t)
	x, err := e.Compile(t.Context(), ane.Source{File: "new.mil", Text: text(fresh())})
	require.NoError(t, err)
	require.NoError(t, x.Close())
	require.NoError(t, f.Fault(selCompile, standin.NoError, 1, 1))
	defer f.ClearFaults()
	_, err = e.Compile(t.Context(), ane.Source{File: "new.mil", Text: text(fresh())})
	require.Error(t, err)
	require.Empty(t, programFiles(t))
}

// TestSurfacesAreWrappedOncePerBlock: a Block's surface is wrapped once, and
// closing the Block releases the wrapper.
func TestSurfacesAreWrappedOncePerBlock(t *testing.T) {
	f := framework(t)
	e := open(t)
	r := newRig(t, e, 1)
	before := f.Instances("_ANEIOSurfaceObject")
	for range 10 {
		q, err := r.model.Bind(map[string]*ane.Tensor{"x": r.x}, map[string]*ane.Tensor{"y": r.y})
		require.NoError(t, err)
		require.NoError(t, q.Close())
	}
	require.Equal(t, before, f.Instances("_ANEIOSurfaceObject"))

	extra := e.Usage().Surfaces
	b, err := unimem.Open(r.x.Layout().Bytes())
	require.NoError(t, err)
	x, err := ane.OnBlock(b, r.x.Layout())
	require.NoError(t, err)
	q, err := r.model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": r.y})
	require.NoError(t, err)
	require.NoError(t, q.Close())
	require.Equal(t, extra+1, e.Usage().Surfaces)
	require.NoError(t, b.Close())
	require.Equal(t, extra, e.Usage().Surfaces)
}

// TestHeapBlocksAreRejected: heap memory is no surface.
func TestHeapBlocksAreRejected(t *testing.T) {
	r := newRig(t, open(t), 1)
	x := r.tensor(r.x.Layout(), []unimem.Option{unimem.OnHeap()})
	_, err := r.model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": r.y})
	require.ErrorIs(t, err, ane.ErrMismatch)
}
