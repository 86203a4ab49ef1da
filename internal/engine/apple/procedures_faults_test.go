package apple_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
)

// TestLostCacheIsRebuiltOnce: the program that is made again serves the Requests of all functions.
func TestLostCacheIsRebuiltOnce(t *testing.T) {
	f := framework(t)
	e := open(t)
	s := newShelf(t, e, 3)
	for name, lose := range map[string]func(){
		"cache lost":    func() { f.PurgeAll() },
		"cache corrupt": func() { require.NoError(t, f.Fault(selLoad, standin.NoError, 2, 10)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range s.rigs {
				require.NoError(t, r.model.Unload(t.Context()))
			}
			before := f.Counts()
			lose()
			defer f.ClearFaults()
			for i := range s.rigs {
				require.NoError(t, s.rigs[i].model.Load(t.Context()))
				s.runs(t, i)
			}
			require.EqualValues(t, 1, f.Counts().Compiles-before.Compiles)
			require.EqualValues(t, 1, f.Counts().Loaded-before.Loaded)
		})
	}
}

// TestRefusedFunctionLeavesOthers: a Model that cannot be loaded, or unloaded, changes nothing for the others.
func TestRefusedFunctionLeavesOthers(t *testing.T) {
	f := framework(t)
	e := open(t)
	defer f.ClearFaults()
	before := f.Counts().Loaded
	s := newShelf(t, e, 2)
	a, b := s.rigs[0].model, s.rigs[1].model
	require.NoError(t, a.Unload(t.Context()))
	require.NoError(t, f.Fault(selUnload, standin.NoError, 1, 8))
	require.ErrorIs(t, b.Unload(t.Context()), ane.ErrEngine)
	s.runs(t, 1)
	require.NoError(t, a.Load(t.Context()), "without a call of the framework")
	s.runs(t, 0)
	require.NoError(t, a.Unload(t.Context()))
	require.NoError(t, b.Unload(t.Context()))
	require.Equal(t, before, f.Counts().Loaded)
	require.NoError(t, f.Fault(selLoad, standin.NoError, -1, 3)) // time, which a compile does not mend
	require.ErrorIs(t, a.Load(t.Context()), ane.ErrEngine)
	f.ClearFaults()
	require.NoError(t, b.Load(t.Context()))
	s.runs(t, 1)
	require.NoError(t, a.Load(t.Context()))
	s.runs(t, 0)
}

// TestUnloadedWithAnErrorIsLoadedAgain: the framework unloads and reports an error; the other function knows.
func TestUnloadedWithAnErrorIsLoadedAgain(t *testing.T) {
	f := framework(t)
	e := open(t)
	defer f.ClearFaults()
	s := newShelf(t, e, 2)
	require.NoError(t, s.rigs[0].model.Unload(t.Context()))
	require.NoError(t, f.Fault(selUnload, standin.YesError, 1, 8))
	require.Error(t, s.rigs[1].model.Unload(t.Context()))
	require.NoError(t, s.rigs[0].model.Load(t.Context()))
	s.runs(t, 0)
	s.runs(t, 1)
}

// TestFailedCompileOfOneFunction: if the caller that compiles fails, a waiting one compiles.
func TestFailedCompileOfOneFunction(t *testing.T) {
	f := framework(t)
	e := open(t)
	defer f.ClearFaults()
	n := fresh()
	require.NoError(t, f.Fault(selCompile, standin.NoError, 1, 3))
	_, err := e.Compile(t.Context(), ane.Source{Text: bank(n, 2), Function: "f0"})
	require.ErrorIs(t, err, ane.ErrEngine)
	x, err := e.Compile(t.Context(), ane.Source{Text: bank(n, 2), Function: "f1"})
	require.NoError(t, err)
	require.NoError(t, x.Close())
}

// TestAbandonedCompileOfOneFunction: a caller that waits for the compile of another can stop waiting, and a late
// compile serves one that still waits.
func TestAbandonedCompileOfOneFunction(t *testing.T) {
	f := framework(t)
	e := open(t)
	allReturned(t)
	defer f.ClearFaults()
	before := f.Counts()
	n := fresh()
	source := func(i int) ane.Source { return ane.Source{Text: bank(n, 3), Function: fmt.Sprintf("f%d", i)} }
	require.NoError(t, f.Fault(selCompile, standin.Hang, 1, 0))
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := e.Compile(ctx, source(i))
			failed <- err
		}()
	}
	await.Until(t, "the compile hangs", func() bool { return f.Counts().Hanging == 1 })
	late := make(chan error, 1)
	go func() {
		x, err := e.Compile(t.Context(), source(2))
		if err == nil {
			err = x.Close()
		}
		late <- err
	}()
	await.Until(t, "three users", func() bool { return e.Users() == 3 })
	stop()
	require.ErrorIs(t, await.Value(t, failed), ane.ErrDeadline)
	require.ErrorIs(t, await.Value(t, failed), ane.ErrDeadline)
	require.LessOrEqual(t, apple.AbandonedCalls(), int64(1), "waiting for another caller is no call of the framework")
	f.ClearFaults()
	require.NoError(t, await.Value(t, late))
	await.Until(t, "the late compile is released", func() bool { return f.Counts().Loaded == before.Loaded })
	require.EqualValues(t, 1, f.Counts().Compiles-before.Compiles)
}

// TestHangingFunctionLeavesOthers: a run that hangs stops neither the runs of other functions nor compiling the
// program again, which then is another load.
func TestHangingFunctionLeavesOthers(t *testing.T) {
	f := framework(t)
	e := open(t)
	allReturned(t)
	defer f.ClearFaults()
	before := f.Counts().Loaded
	s := newShelf(t, e, 2)
	require.NoError(t, f.Fault(selEvaluate, standin.Hang, 1, 0))
	a, b := s.rigs[0], s.rigs[1]
	_, err := a.model.Evaluate(hanging(t, f, 1), a.request)
	require.ErrorIs(t, err, ane.ErrDeadline)
	s.runs(t, 1)
	require.NoError(t, b.model.Unload(t.Context()))
	require.NoError(t, b.model.Load(t.Context()))
	s.runs(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, a.model.Unload(ctx))
	again := s.rig(t, a.device, 2, 0)
	require.NoError(t, again.run(t.Context(), 1, float32(s.n)))
	require.EqualValues(t, 2, f.Counts().Loaded-before)
	f.ClearFaults()
	s.runs(t, 0)
}

// TestHangingUnloadOfTheLastFunction: another function waits for it, no longer than its caller.
func TestHangingUnloadOfTheLastFunction(t *testing.T) {
	f := framework(t)
	e := open(t)
	allReturned(t)
	defer f.ClearFaults()
	s := newShelf(t, e, 2)
	a, b := s.rigs[0], s.rigs[1]
	require.NoError(t, a.model.Unload(t.Context()))
	require.NoError(t, f.Fault(selUnload, standin.Hang, 1, 0))
	require.ErrorIs(t, b.model.Unload(hanging(t, f, 1)), ane.ErrDeadline)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- a.model.Load(ctx) }()
	cancel()
	require.ErrorIs(t, await.Value(t, stopped), ane.ErrDeadline)
	loaded := make(chan error, 1)
	go func() { loaded <- a.model.Load(t.Context()) }()
	f.ClearFaults()
	require.NoError(t, await.Value(t, loaded))
	s.runs(t, 0)
}
