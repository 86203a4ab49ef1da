//go:build cgo

package standin

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/attributes"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/plist"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// bridge opens the bridge over the stand-in framework until the test ends.
func bridge(tb testing.TB) (*Framework, *objcbridge.Bridge) {
	f := started(tb)
	return f, onBridge(tb, f)
}

// onBridge opens the bridge over f until the test ends.
func onBridge(tb testing.TB, f *Framework) *objcbridge.Bridge {
	c := f.Config()
	require.NoError(tb, c.Open())
	tb.Cleanup(func() { require.NoError(tb, c.Close()) })
	b, err := objcbridge.Open(c.Bridge)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.Close()) })
	return b
}

// loadedProgram compiles and loads a text; the test closes it at its end.
func loadedProgram(tb testing.TB, b *objcbridge.Bridge, text string, weights ...objcbridge.Weight) *objcbridge.Program {
	p, err := b.NewProgram([]byte(text), weights)
	require.NoError(tb, err)
	tb.Cleanup(p.Close)
	_, err = p.Compile(driverabi.QoSDefault)
	require.NoError(tb, err)
	require.NoError(tb, p.Load(driverabi.QoSDefault))
	return p
}

// described returns a procedure as described by the program's attributes.
func described(tb testing.TB, p *objcbridge.Program, function string) *attributes.Procedure {
	raw, err := p.Attributes()
	require.NoError(tb, err)
	tree, err := plist.Read(raw)
	require.NoError(tb, err)
	all, err := attributes.Read(tree)
	require.NoError(tb, err)
	d, err := all.Find(function)
	require.NoError(tb, err)
	return d
}

// wrapped returns the framework's object for a Block's surface; the test closes
// it at its end.
func wrapped(tb testing.TB, f *Framework, b *objcbridge.Bridge, block *unimem.Block) *objcbridge.Surface {
	s, err := f.surfaceOf(block)
	require.NoError(tb, err)
	w, err := b.WrapSurface(s.Ref, 0)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		w.Close()
		if s.Release != nil {
			require.NoError(tb, s.Release())
		}
	})
	return w
}

// requested binds surfaces to the symbols of a procedure.
func requested(tb testing.TB, p *objcbridge.Program, procedure int, in, out []objcbridge.Binding) *objcbridge.Request {
	r, err := p.NewRequest(procedure, in, out)
	require.NoError(tb, err)
	tb.Cleanup(r.Close)
	return r
}

func TestThroughTheBridge(t *testing.T) {
	for kind, opts := range map[string]func(*Framework) []unimem.Option{
		"surfaces": func(f *Framework) []unimem.Option { return []unimem.Option{f.Surfaces()} },
		"memfds":   func(*Framework) []unimem.Option { return nil },
	} {
		t.Run(kind, func(t *testing.T) {
			f, b := bridge(t)
			a, c, y := opened(t, plane, opts(f)...), opened(t, plane, opts(f)...), opened(t, plane, opts(f)...)
			p := loadedProgram(t, b, addition)
			d := described(t, p, "main")
			require.Zero(t, d.Number)
			require.Len(t, d.Inputs, 2)
			require.Len(t, d.Outputs, 1)
			require.Equal(t, attributes.Tensor{Name: "b", Type: "Float16", Index: 1, List: "LiveInputList",
				Layout: ane.Layout{
					Name: "b", DType: mil.FP16, Shape: []int{1, 4, 1,
						32}, Batches: 1, Channels: 4, Depth: 1, Height: 1, Width: 32,
					BatchStride: 256, DepthStride: 256, PlaneStride: 64, RowStride: 64}}, d.Inputs[1])
			require.Equal(t, "y", d.Outputs[0].Name)

			r := requested(t, p, 0,
				[]objcbridge.Binding{{Surface: wrapped(t, f, b, a), Index: 0, Bytes: plane},
					{Surface: wrapped(t, f, b, c), Index: 1, Bytes: plane}},
				[]objcbridge.Binding{{Surface: wrapped(t, f, b, y), Index: 0, Bytes: plane}})
			fill(a.Bytes(), 8)
			fill(c.Bytes(), 3)
			require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
			require.Equal(t, filled(5), y.Bytes()[:plane], "a - b, and no copy")
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = r.Evaluate(p, driverabi.QoSDefault) }), 2.0)
			require.NotEmpty(t, f.server.requests)

			require.NoError(t, p.Unload(driverabi.QoSDefault))
			require.NoError(t, p.Load(driverabi.QoSDefault))
			fill(a.Bytes(), 4)
			require.NoError(t, r.Evaluate(p, driverabi.QoSDefault), "the request is valid after the next load")
			require.Equal(t, filled(1), y.Bytes()[:plane])
			r.Close()
			require.Empty(t, f.server.requests, "the request object is released")
		})
	}
}

func TestTwoProceduresThroughTheBridge(t *testing.T) {
	f, b := bridge(t)
	p := loadedProgram(t, b, pair2)
	d := described(t, p, "second")
	require.Equal(t, 1, d.Number)
	named := map[string]*unimem.Block{}
	bind := func(tensors []attributes.Tensor) (list []objcbridge.Binding) {
		for _, s := range tensors {
			named[s.Name] = opened(t, plane, f.Surfaces())
			list = append(list, objcbridge.Binding{Surface: wrapped(t, f, b, named[s.Name]), Index: s.Index,
				Bytes: plane})
		}
		return list
	}
	r := requested(t, p, d.Number, bind(d.Inputs), bind(d.Outputs))
	fill(named["z"].Bytes(), 7)
	fill(named["m"].Bytes(), 2)
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
	require.Equal(t, filled(5), named["early"].Bytes()[:plane])
	require.Equal(t, filled(14), named["late"].Bytes()[:plane])
	require.Equal(t, 3, d.Inputs[1].Index, "the index of its own z among the symbols of both procedures")
}

func TestWeightsThroughTheBridge(t *testing.T) {
	f, b := bridge(t)
	p := loadedProgram(t, b, weighted, objcbridge.Weight{Path: "@model_path/weights/w.bin",
		Data: []byte(weights(t, 3))})
	x, y := opened(t, plane, f.Surfaces()), opened(t, plane, f.Surfaces())
	r := requested(t, p, 0, []objcbridge.Binding{{Surface: wrapped(t, f, b, x), Bytes: plane}},
		[]objcbridge.Binding{{Surface: wrapped(t, f, b, y), Bytes: plane}})
	fill(x.Bytes(), 1)
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
	require.Equal(t, filled(4), y.Bytes()[:plane])
}

func TestRejectedProgramsLeaveNothing(t *testing.T) {
	_, b := bridge(t)
	p, err := b.NewProgram([]byte("program(1.3) { nonsense"), nil)
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Compile(driverabi.QoSDefault)
	var e *objcbridge.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, objcbridge.KindNSError, e.Kind)
	require.Contains(t, e.Message, "ANECCompile() FAILED")
}

// TestUnlockedSurfacesStayUnlocked: a surface that the CPU has unlocked stays
// unlocked while a request holds it. The engine takes no lock that a framework
// could depend on.
func TestUnlockedSurfacesStayUnlocked(t *testing.T) {
	f, b := bridge(t)
	p := loadedProgram(t, b, addition)
	x, y := opened(t, plane, f.Surfaces()), opened(t, plane, f.Surfaces())
	in, out := wrapped(t, f, b, x), wrapped(t, f, b, y)
	r := requested(t, p, 0, []objcbridge.Binding{{Surface: in, Index: 0, Bytes: plane}, {Surface: in, Index: 1,
		Bytes: plane}}, []objcbridge.Binding{{Surface: out, Bytes: plane}})
	const evaluate = "evaluateWithQoS:options:request:error:"
	require.NoError(t, f.Fault(evaluate, Locked, -1, 0))
	fill(x.Bytes(), 1)
	fill(y.Bytes(), 9)
	require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
	require.Equal(t, filled(9), y.Bytes()[:plane], "with the fault, locked surfaces are not written")
	require.NoError(t, in.Unlock())
	require.NoError(t, out.Unlock())
	for range 3 {
		fill(y.Bytes(), 9)
		require.NoError(t, r.Evaluate(p, driverabi.QoSDefault))
		require.Equal(t, filled(0), y.Bytes()[:plane])
		require.Zero(t, f.SurfaceCounts().Locks)
	}
	require.NoError(t, out.Lock())
	require.NoError(t, in.Lock())
}

func TestManyRequestsOfOneProgram(t *testing.T) {
	const threads, rounds = 16, 50
	f, b := bridge(t)
	p := loadedProgram(t, b, addition)
	shared := opened(t, plane, f.Surfaces())
	fill(shared.Bytes(), 3)
	s := wrapped(t, f, b, shared)
	var work sync.WaitGroup
	errs := make(chan error, threads)
	for i := range threads {
		x, y := opened(t, plane, f.Surfaces()), opened(t, plane, f.Surfaces())
		fill(x.Bytes(), float32(i))
		in, out := wrapped(t, f, b, x), wrapped(t, f, b, y)
		work.Go(func() {
			for range rounds {
				r, err := p.NewRequest(0, []objcbridge.Binding{{Surface: in, Index: 0, Bytes: plane}, {Surface: s,
					Index: 1, Bytes: plane}}, []objcbridge.Binding{{Surface: out, Bytes: plane}})
				if err != nil {
					errs <- err
					return
				}
				for range 4 {
					if err = r.Evaluate(p, driverabi.QoSDefault); err != nil {
						break
					}
				}
				r.Close()
				if err == nil && string(y.Bytes()[:plane]) != string(filled(float32(i)-3)) {
					err = fmt.Errorf("thread %d has the result of another thread", i)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	work.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Empty(t, f.server.requests)
}
