package apple_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// given is the number of abandoned calls that a process can have.
const given = 16

// TestCloseWithMaxAbandonedCalls: a program that is closed while the process has
// the maximum of abandoned calls is released after they return, and Close adds no
// call.
func TestCloseWithMaxAbandonedCalls(t *testing.T) {
	f := framework(t)
	allReturned(t)
	e, err := apple.Open(t.Context(), f.Config())
	require.NoError(t, err)
	var out []ane.Executable
	for range given + 1 {
		x, err := e.Compile(t.Context(), ane.Source{File: "new.mil", Text: text(fresh())})
		require.NoError(t, err)
		out = append(out, x)
	}
	idle := out[given]
	require.NoError(t, f.Fault(selUnload, standin.Hang, -1, 0))
	defer f.ClearFaults()
	for i, x := range out[:given] {
		require.ErrorIs(t, x.Unload(hanging(t, f, int64(i+1))), ane.ErrDeadline)
	}
	require.NoError(t, idle.Close())
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	_, err = e.Compile(ctx, ane.Source{File: "new.mil", Text: text(fresh())})
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.EqualValues(t, given, f.Counts().Hanging)
	for _, x := range out[:given] {
		require.NoError(t, x.Close())
	}
	f.ClearFaults()
	require.NoError(t, e.Close(), "every program is released")
	require.Empty(t, leftovers())
}

// TestCloseRunsOnlyAfterOpen: Config.Close runs only if Config.Open succeeded.
func TestCloseRunsOnlyAfterOpen(t *testing.T) {
	c := framework(t).Config()
	begin, end := c.Open, c.Close
	opened, ended := 0, 0
	c.Open = func() error { opened++; return begin() }
	c.Close = func() error { ended++; return end() }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := apple.Open(ctx, c)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.Zero(t, opened)
	require.Zero(t, ended)

	boom := errors.New("boom")
	c.Open = func() error { return boom }
	_, err = apple.Open(t.Context(), c)
	require.ErrorIs(t, err, boom)
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.Zero(t, ended)

	c.Open = func() error { opened++; return begin() }
	e, err := apple.Open(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.Equal(t, 1, opened)
	require.Equal(t, 1, ended)
}

func TestClosedEngineRejectsCompile(t *testing.T) {
	f := framework(t)
	c := f.Config()
	end, ended := c.Close, 0
	c.Close = func() error {
		if ended++; end == nil {
			return nil
		}
		return end()
	}
	e, err := apple.Open(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, e.Close())
	for range 3 {
		_, err := e.Compile(t.Context(), ane.Source{File: "new.mil", Text: text(1)})
		require.ErrorIs(t, err, ane.ErrClosed)
	}
	require.Positive(t, e.Usage().ProgramLimit, "the usage at Close")
	require.NoError(t, e.Close())
	require.Equal(t, 1, ended)
}

// TestBlocksAndEngineCloseAtOnce: the Block or the engine releases the wrapper of
// a surface once, before the engine is closed.
func TestBlocksAndEngineCloseAtOnce(t *testing.T) {
	f := framework(t)
	for range effort.Rounds(200, 50) {
		e, err := apple.Open(t.Context(), f.Config())
		require.NoError(t, err)
		var blocks []*unimem.Block
		x, err := e.Compile(t.Context(), ane.Source{File: "old.mil", Text: text(1)})
		require.NoError(t, err)
		var tensors []*ane.Tensor
		for _, l := range append(x.Inputs(), x.Outputs()...) {
			b, err := unimem.Open(l.Bytes())
			require.NoError(t, err)
			tensor, err := ane.OnBlock(b, l)
			require.NoError(t, err)
			blocks, tensors = append(blocks, b), append(tensors, tensor)
		}
		v, err := x.Prepare(tensors[:1], tensors[1:])
		require.NoError(t, err)
		require.NoError(t, v.Close())
		require.NoError(t, x.Close())
		faults := make([]error, len(blocks)+1)
		var all sync.WaitGroup
		for i, b := range blocks {
			all.Go(func() { faults[i] = b.Close() })
		}
		faults[len(blocks)] = e.Close()
		all.Wait()
		require.NoError(t, errors.Join(faults...))
	}
	require.Empty(t, leftovers())
}

// TestLoadAfterThePurgeFails: a Load that must compile the program again can be
// repeated after it failed.
func TestFailedLoadAfterPurge(t *testing.T) {
	f := framework(t)
	defer f.ClearFaults()
	for selector, kind := range map[string]standin.FaultKind{
		selText: standin.Nil, selModel: standin.Exception, selCompile: standin.No, selLoad: standin.NoError,
	} {
		t.Run(selector, func(t *testing.T) {
			r := newRig(t, open(t), 77)
			require.NoError(t, r.model.Unload(t.Context()))
			f.PurgeAll()
			times := stage{selector: selector}.refusals(kind)
			require.NoError(t, f.Fault(selector, kind, times, 6))
			require.ErrorIs(t, r.model.Load(t.Context()), ane.ErrEngine)
			require.NoError(t, r.model.Load(t.Context()))
			require.NoError(t, r.run(t.Context(), 1, 77))
		})
	}
}

const weighted = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> w = const()[name = string("w"), val = tensor<fp16, [1, 64, 1, 32]>(BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(%d)))];
        tensor<fp16, [1, 64, 1, 32]> y = add(x = x, y = w)[name = string("y")];
    } -> (y);
}`

// weights returns its own bytes for every path.
type weights []byte

func (w weights) ReadFile(string) ([]byte, error) { return w, nil }

// TestLoadAfterPurgeWithOtherWeights: a Load with weights that differ from those
// of the first compile fails each time and never uses them.
func TestLoadAfterPurgeWithOtherWeights(t *testing.T) {
	f := framework(t)
	var file blob.Writer
	at, err := file.Add(mil.FP16, make([]byte, 2*64*32), 0)
	require.NoError(t, err)
	w := weights(file.Bytes())
	x, err := open(t).Compile(t.Context(), ane.Source{File: "weighted.mil", Text: fmt.Appendf(nil, weighted, at),
		Weights: w})
	require.NoError(t, err)
	require.NoError(t, x.Unload(t.Context()))
	f.PurgeAll()
	last := &w[len(w)-1]
	*last ^= 0x40
	for range 2 {
		require.ErrorIs(t, x.Load(t.Context()), ane.ErrMismatch)
	}
	*last ^= 0x40
	require.NoError(t, x.Load(t.Context()))
	require.NoError(t, x.Close())
}

// TestLocksAreRetaken: a lock that cannot be taken after a run is taken after the
// next, or when the Block is closed.
func TestLocksAreRetaken(t *testing.T) {
	f := framework(t)
	require.NoError(t, f.Fault(selEvaluate, standin.Locked, -1, 0))
	defer f.ClearFaults()
	for _, function := range []string{"IOSurfaceLock", "IOSurfaceUnlock"} {
		for name, kind := range map[string][]unimem.Option{"memfd": nil, "surface": {f.Surfaces()}} {
			t.Run(function+"/"+name, func(t *testing.T) {
				e := open(t)
				require.True(t, e.Relocks())
				r := newRig(t, e, 1, kind...)
				require.NoError(t, r.run(t.Context(), 1, 1))
				locks := f.SurfaceCounts().Locks
				for _, nth := range []int{1, 2} {
					require.NoError(t, f.FailSurface(function, nth))
					require.ErrorIs(t, r.run(t.Context(), 2, 1), ane.ErrEngine)
					require.NoError(t, r.run(t.Context(), 3, 1))
					require.Equal(t, locks, f.SurfaceCounts().Locks)
				}
				require.NoError(t, f.FailSurface(function, 1))
				require.ErrorIs(t, r.run(t.Context(), 2, 1), ane.ErrEngine)
			})
		}
	}
}

// TestBindAfterAbandonedUnload: a Model is not loaded while an abandoned Unload is
// in flight, nor after it.
func TestBindAfterAbandonedUnload(t *testing.T) {
	f := framework(t)
	r := newRig(t, open(t), 1)
	bind := func() error {
		_, err := r.model.Bind(map[string]*ane.Tensor{"x": r.x}, map[string]*ane.Tensor{"y": r.y})
		return err
	}
	require.NoError(t, f.Fault(selUnload, standin.Hang, 1, 0))
	defer f.ClearFaults()
	require.ErrorIs(t, r.model.Unload(hanging(t, f, 1)), ane.ErrDeadline)
	require.ErrorIs(t, bind(), ane.ErrNotLoaded)
	f.ClearFaults()
	_, err := r.model.Evaluate(t.Context(), r.request) // waits for the Unload
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	require.ErrorIs(t, bind(), ane.ErrNotLoaded)
	require.NoError(t, r.model.Unload(t.Context()))
	require.NoError(t, r.model.Load(t.Context()))
	require.NoError(t, r.run(t.Context(), 1, 1))
}

// TestWeightsRejectedByBridge: faults of a program that the bridge finds have a
// position in the text.
func TestWeightsRejectedByBridge(t *testing.T) {
	e := open(t)
	for path, w := range map[string]weights{"../w.bin": {1}, "/w.bin": {1}, "@model_path/": {1},
		"@model_path/w.bin": {}} {
		text := strings.Replace(fmt.Sprintf(weighted, 64), "@model_path/weights/w.bin", path, 1)
		_, err := e.Compile(t.Context(), ane.Source{File: "weighted.mil", Text: []byte(text), Weights: w})
		require.ErrorIs(t, err, ane.ErrCompile)
		require.ErrorContains(t, err, path)
		var faults mil.ErrorList
		require.ErrorAs(t, err, &faults)
		require.Equal(t, 4, faults[0].Pos.Line)
		var b *objcbridge.Error
		require.ErrorAs(t, err, &b)
		require.Equal(t, objcbridge.ReasonArgument, b.Reason)
	}
	_, err := e.Compile(t.Context(), ane.Source{File: "none.mil", Text: []byte("program(1.3)\n{\n}")})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "no function")
	require.Zero(t, e.Usage().Programs)
}

// TestHangingBindBlocksNoOthers: a Bind that hangs blocks no other Block and no
// other Model.
func TestHangingBindBlocksNoOthers(t *testing.T) {
	f := framework(t)
	e := open(t)
	a, b := newRig(t, e, 1), newRig(t, e, 2)
	require.NoError(t, f.Fault(selSurface, standin.Hang, 1, 0))
	defer f.ClearFaults()
	fresh := a.tensor(a.x.Layout(), nil)
	late := make(chan error, 1)
	go func() {
		q, err := a.model.Bind(map[string]*ane.Tensor{"x": fresh}, map[string]*ane.Tensor{"y": a.y})
		if err == nil {
			err = q.Close()
		}
		late <- err
	}()
	await.Until(t, "a Bind hangs", func() bool { return f.Counts().Hanging == 1 })
	memory, err := unimem.Open(b.x.Layout().Bytes())
	require.NoError(t, err)
	x, err := ane.OnBlock(memory, b.x.Layout())
	require.NoError(t, err)
	q, err := b.model.Bind(map[string]*ane.Tensor{"x": x}, map[string]*ane.Tensor{"y": b.y})
	require.NoError(t, err)
	require.NoError(t, q.Close())
	require.NoError(t, memory.Close())
	require.NoError(t, b.run(t.Context(), 1, 2))
	f.ClearFaults()
	require.NoError(t, await.Value(t, late))
}

// TestAbandonedBindHoldsBlocks: an abandoned Bind holds its Blocks until it
// returns.
func TestAbandonedBindHoldsBlocks(t *testing.T) {
	f := framework(t)
	e := open(t)
	r := newRig(t, e, 1)
	require.NoError(t, f.Fault(selSurface, standin.Hang, 1, 0))
	defer f.ClearFaults()
	fresh := r.tensor(r.x.Layout(), nil)
	require.ErrorIs(t, impatient(e, func() error {
		_, err := r.model.Bind(map[string]*ane.Tensor{"x": fresh}, map[string]*ane.Tensor{"y": r.y})
		return err
	}), ane.ErrDeadline)
	require.ErrorIs(t, fresh.Block().Close(), unimem.ErrInUse)
	f.ClearFaults()
	require.NoError(t, r.run(t.Context(), 1, 1))
	require.NoError(t, closed(fresh.Block(), never))
}

// TestTwoEnginesUnlockOneBlock: two engines that unlock surfaces can run on one
// Block at once.
func TestTwoEnginesUnlockOneBlock(t *testing.T) {
	f := framework(t)
	require.NoError(t, f.Fault(selEvaluate, standin.Locked, -1, 0))
	defer f.ClearFaults()
	for name, kind := range map[string][]unimem.Option{"memfd": nil, "surface": {f.Surfaces()}} {
		t.Run(name, func(t *testing.T) {
			a := newRig(t, open(t), 1, kind...)
			b := newRig(t, open(t), 2, kind...)
			shared, err := b.model.Bind(map[string]*ane.Tensor{"x": a.x}, map[string]*ane.Tensor{"y": b.y})
			require.NoError(t, err)
			for _, r := range []struct {
				m *ane.Model
				q *ane.Request
			}{{a.model, a.request}, {b.model, shared}} { // the first run of each maps the surfaces
				_, err := r.m.Evaluate(t.Context(), r.q)
				require.NoError(t, err)
			}
			locks := f.SurfaceCounts().Locks
			var all sync.WaitGroup
			faults := make([]error, 2)
			for i, run := range []func() error{
				func() error { _, err := a.model.Evaluate(t.Context(), a.request); return err },
				func() error { _, err := b.model.Evaluate(t.Context(), shared); return err },
			} {
				all.Go(func() {
					for range 500 {
						faults[i] = errors.Join(faults[i], run())
					}
				})
			}
			all.Wait()
			require.NoError(t, errors.Join(faults...))
			require.Equal(t, locks, f.SurfaceCounts().Locks)
			require.NoError(t, shared.Close())
		})
	}
}
