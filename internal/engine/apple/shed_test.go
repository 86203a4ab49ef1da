package apple_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// TestIdleInvocationsReleaseSurfaces: a run that fails for lack of memory is retried
// after idle invocations have released their requests and surfaces. They make them again
// on their next run.
func TestIdleInvocationsReleaseSurfaces(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	e := open(t)
	var rigs []*rig
	for i := range 4 {
		rigs = append(rigs, newRig(t, e, 100+i))
		require.NoError(t, rigs[i].run(t.Context(), 1, float32(100+i)))
	}
	require.Equal(t, 4, f.Instances("_ANERequest"))
	require.Equal(t, 8, f.Instances("_ANEIOSurfaceObject"))
	const mapping = 13
	require.NoError(t, f.Fault(selEvaluate, standin.NoError, 1, mapping))
	require.NoError(t, rigs[0].run(t.Context(), 2, 100))
	require.Equal(t, 1, f.Instances("_ANERequest"), "the others are idle")
	require.Equal(t, 2, f.Instances("_ANEIOSurfaceObject"))
	for i, r := range rigs {
		require.NoError(t, r.run(t.Context(), 3, float32(100+i)))
	}
	require.Equal(t, 4, f.Instances("_ANERequest"))
	errs := e.Met()
	require.Len(t, errs, 1)
	require.True(t, errs[0].Recovered)

	// If the failure persists, the error lists the open objects. Later runs
	// succeed.
	require.NoError(t, f.Fault(selEvaluate, standin.NoError, -1, mapping))
	err := rigs[1].run(t.Context(), 4, 101)
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "open in this process: ")
	require.ErrorContains(t, err, "4 Requests")
	f.ClearFaults()
	for i, r := range rigs {
		require.NoError(t, r.run(t.Context(), 5, float32(100+i)))
	}
}

// TestLoadsReleaseSurfaces: a load for which macOS 27 has no engine resources, in a compile or after an Unload, is sent
// again once idle invocations have released their surfaces. If it fails again, the error says what is open.
func TestLoadsReleaseSurfaces(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	e := open(t)
	idle := newRig(t, e, 100)
	require.NoError(t, idle.run(t.Context(), 1, 100))
	require.Equal(t, 2, f.Instances("_ANEIOSurfaceObject"))
	require.NoError(t, f.Fault(selLoad, standin.NoError, tries, noPlace))
	other := newRig(t, e, 101)
	require.Equal(t, 2, f.Instances("_ANEIOSurfaceObject"), "those of the new program")
	require.NoError(t, idle.run(t.Context(), 2, 100))
	require.NoError(t, other.run(t.Context(), 2, 101))

	require.NoError(t, other.model.Unload(t.Context()))
	require.NoError(t, f.Fault(selLoad, standin.NoError, tries, noPlace))
	require.NoError(t, other.model.Load(t.Context()))
	require.NoError(t, other.run(t.Context(), 3, 101))
	met := e.Met()
	require.Len(t, met, 1)
	require.True(t, met[0].Recovered)
	require.EqualValues(t, 2, met[0].Count)

	require.NoError(t, other.model.Unload(t.Context()))
	require.NoError(t, f.Fault(selLoad, standin.NoError, -1, noPlace))
	err := other.model.Load(t.Context())
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "no engine resources are free for the program")
	require.ErrorContains(t, err, "open in this process: ")
	f.ClearFaults()
	require.NoError(t, other.model.Load(t.Context()))
	require.NoError(t, other.run(t.Context(), 4, 101))
}

// TestSurfacesThatCannotBeCreated: after 388 runs IOSurfaceCreate fails. unimem asks the
// engine to release idle surfaces, and its second try succeeds.
func TestSurfacesThatCannotBeCreated(t *testing.T) {
	f := framework(t)
	e := open(t)
	option := f.Surfaces()
	r := newRig(t, e, 7, option)
	for i := range 388 {
		require.NoError(t, r.run(t.Context(), float32(i%32), 7))
	}
	require.Equal(t, 2, f.Instances("_ANEIOSurfaceObject"))
	require.NoError(t, f.FailSurface("IOSurfaceCreate", 1))
	b, err := unimem.Open(1, option)
	require.NoError(t, err, "the engine releases its wrappers, and the second try succeeds")
	require.NoError(t, b.Close())
	require.Zero(t, f.Instances("_ANEIOSurfaceObject"))
	require.NoError(t, r.run(t.Context(), 1, 7))
}

// TestViewsAreKept: a caller that reads the engine's bytes keeps them mapped.
func TestViewsAreKept(t *testing.T) {
	if host.Mac {
		t.Skip("Apple's engine does not show its bytes")
	}
	f := framework(t)
	r := newRig(t, open(t), 9)
	view := access.View(r.request, access.Output, "y")
	require.NotNil(t, view)
	require.NoError(t, f.FailSurface("IOSurfaceCreate", 1))
	_, err := unimem.Open(1, f.Surfaces())
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.NoError(t, r.run(t.Context(), 1, 9))
	require.NotZero(t, view[0]|view[1])
}

// TestShedDuringRuns runs requests from many goroutines while memory is exhausted.
func TestShedDuringRuns(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	e := open(t)
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for i := range 8 {
		r := newRig(t, e, 200+i)
		all.Go(func() {
			for n := range 100 {
				if err := r.run(context.Background(), float32(n%8), float32(200+i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for range 50 {
		require.NoError(t, f.FailSurface("IOSurfaceCreate", 1))
		if b, err := unimem.Open(1, f.Surfaces()); err == nil {
			require.NoError(t, b.Close())
		} else {
			require.ErrorIs(t, err, unimem.ErrExhausted)
		}
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

// TestObserveDuringAbandonedCall: an abandoned call that returns just as Open ends
// records its facts without a race.
func TestObserveDuringAbandonedCall(t *testing.T) {
	f := framework(t)
	open(t) // puts the known program into the cache
	defer f.ClearFaults()
	for range 20 {
		require.NoError(t, f.Fault(selLoad, standin.Hang, 1, 0))
		ctx, cancel := context.WithCancel(t.Context())
		c := f.Config()
		c.Observe = func(k apple.Known, _ []apple.Met) { _ = len(k.Attributes) }
		done := make(chan error, 1)
		go func() {
			e, err := apple.Open(ctx, c)
			if err == nil {
				err = e.Close()
			}
			done <- err
		}()
		await.Until(t, "Open hangs", func() bool { return f.Counts().Hanging == 1 })
		go cancel()
		f.ReleaseHangs()
		<-done // Open may succeed or time out
	}
	require.Empty(t, leftovers())
}
