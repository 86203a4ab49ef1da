package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// compiled returns a Model of f that is not loaded.
func compiled(t testing.TB, f *fake) *ane.Model {
	t.Helper()
	m, err := device(t, f).Compile(context.Background(), anySource)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	return m
}

func TestNewRequestLoadsAndHasSurfacesOfItsOwn(t *testing.T) {
	f := adder(t)
	loads := 0
	f.load = func(context.Context) error { loads++; return nil }
	m := compiled(t, f)
	before := unimem.Live()
	r, err := m.NewRequest(t.Context(), unimem.Warm())
	require.NoError(t, err)
	again, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, loads)
	require.Equal(t, before.Blocks+6, unimem.Live().Blocks, "a surface for each tensor")

	blocks := map[*unimem.Block]bool{}
	for _, q := range []*ane.Request{r, again} {
		for _, x := range []*ane.Tensor{q.Input("zeta"), q.Input("alpha"), q.Output("sum")} {
			require.Zero(t, x.Offset())
			blocks[x.Block()] = true
		}
	}
	require.Len(t, blocks, 6)
	l, err := m.Input("zeta")
	require.NoError(t, err)
	require.Equal(t, l, r.Input("zeta").Layout())
	l, err = m.Output("sum")
	require.NoError(t, err)
	require.Equal(t, l, r.Output("sum").Layout())

	result, err := r.Evaluate(t.Context())
	require.NoError(t, err)
	require.Equal(t, "fake", result.Receipt.Engine)
	x := r.Input("alpha")
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.NoError(t, again.Close())
	require.Equal(t, before.Blocks, unimem.Live().Blocks)
	require.Nil(t, x.Bytes(), "the request has closed the tensor's memory")
	_, err = r.Evaluate(t.Context())
	require.ErrorIs(t, err, ane.ErrClosed)
}

// Surfaces have the bytes of their tensors, except on an engine that wants more: then all of
// a side have one size.
func TestSurfacesAsLargeAsTheEngineWants(t *testing.T) {
	layout := func(name string, channels int) ane.Layout {
		l, err := ane.NewLayout(name, mil.FP16, 1, channels, 1, 32)
		require.NoError(t, err)
		return l
	}
	small, large, out := layout("small", 1), layout("large", 2048), layout("y", 769)
	sizes := func(least int) (all []int) {
		m := compiled(t, &fake{in: []ane.Layout{small, large}, out: []ane.Layout{out}, minSurface: least})
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		for _, x := range []*ane.Tensor{r.Input("small"), r.Input("large"), r.Output("y")} {
			all = append(all, x.Block().Size())
		}
		return all
	}
	page := unimem.PageSize
	require.Equal(t, []int{page, 2048 * 64, 4 * page}, sizes(0))
	require.Equal(t, []int{2048 * 64, 2048 * 64, 4 * page}, sizes(49152))
	require.Equal(t, []int{1 << 20, 1 << 20, 1 << 20}, sizes(1<<20))
	require.Equal(t, 64, (*ane.Model)(nil).SurfaceSize(small, nil))
	require.Equal(t, 64, new(ane.Model).SurfaceSize(small, []ane.Layout{large}))
}

func TestUnknownNames(t *testing.T) {
	m := model(t, adder(t))
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer r.Close()
	_, err = m.Input("sum")
	require.ErrorIs(t, err, ane.ErrName)
	require.ErrorContains(t, err, "zeta, alpha")
	_, err = m.Output("zeta")
	require.ErrorIs(t, err, ane.ErrName)
	for _, x := range []*ane.Tensor{r.Input("sum"), r.Output("alpha")} {
		require.Nil(t, x.Bytes())
		_, err := x.WriteFloat32(nil)
		require.ErrorIs(t, err, ane.ErrName)
		require.ErrorIs(t, x.Set(1), ane.ErrName)
		_, err = x.Float32s()
		require.ErrorIs(t, err, ane.ErrName)
		_, err = x.Slice(0, 0, 1)
		require.ErrorIs(t, err, ane.ErrName)
		for range x.Rows() {
			t.Fatal("a tensor of an unknown name has a row")
		}
		_, err = m.Bind(map[string]*ane.Tensor{"zeta": x, "alpha": r.Input("alpha")},
			map[string]*ane.Tensor{"sum": r.Output("sum")})
		require.ErrorIs(t, err, ane.ErrName)
	}
	for _, none := range []*ane.Request{nil, {}} {
		_, err = none.Input("x").At()
		require.ErrorIs(t, err, ane.ErrClosed)
		_, err = none.Output("x").At()
		require.ErrorIs(t, err, ane.ErrClosed)
	}
}

func TestFailedNewRequestLeaksNothing(t *testing.T) {
	f := adder(t)
	m := compiled(t, f)
	before := unimem.Live()
	f.prepare = errors.New("no room")
	_, err := m.NewRequest(t.Context())
	require.ErrorIs(t, err, f.prepare)
	_, err = m.NewRequest(t.Context(), unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrOption)
	f.prepare = nil
	require.NoError(t, m.Unload(t.Context()))
	f.load = func(context.Context) error { return errors.New("no engine") }
	_, err = m.NewRequest(t.Context())
	require.ErrorContains(t, err, "no engine")
	require.Equal(t, before, unimem.Live())
	_, err = (*ane.Model)(nil).NewRequest(t.Context())
	require.ErrorIs(t, err, ane.ErrClosed)
}

// A surface that another request holds is freed after that request is closed.
func TestSurfacesInUseAreFreedLater(t *testing.T) {
	m := model(t, adder(t))
	before := unimem.Live().Blocks
	first, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	second, err := m.Bind(map[string]*ane.Tensor{"zeta": first.Output("sum"), "alpha": first.Input("alpha")},
		tensors(t, m.Outputs()))
	require.NoError(t, err)
	own := unimem.Live().Blocks - 3
	require.NoError(t, first.Close())
	require.Equal(t, own+2, unimem.Live().Blocks, "one is freed, two are bound")
	_, err = second.Evaluate(t.Context())
	require.NoError(t, err)
	require.NoError(t, second.Close())
	third, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	require.NoError(t, third.Close(), "closing a request frees the other surfaces")
	require.Equal(t, own, unimem.Live().Blocks)
	require.Equal(t, before+1, own)
}

func TestDeviceCloseFreesWhatRunsHeld(t *testing.T) {
	f := adder(t)
	d, err := ane.Open(f, "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), anySource)
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	held := r.Input("zeta").Block()
	require.NoError(t, held.Retain())
	before := unimem.Live().Blocks
	require.NoError(t, r.Close())
	require.Equal(t, before-2, unimem.Live().Blocks)
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
	require.Equal(t, before-2, unimem.Live().Blocks)
	held.Release()
	require.NoError(t, d.Close())
	require.Equal(t, before-3, unimem.Live().Blocks)
}

func TestSourceIsTextOrProgram(t *testing.T) {
	d := device(t, adder(t))
	_, err := d.Compile(t.Context(), ane.Source{File: "two.mil", Text: []byte("x"), Program: &mil.Program{}})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "give one of them")
	p, err := mil.Parse("d.mil", []byte(doubling))
	require.NoError(t, err)
	text, err := ane.Source{Program: p}.MIL()
	require.NoError(t, err)
	back, err := ane.Source{Text: text}.Tree()
	require.NoError(t, err)
	require.True(t, mil.Equal(p, back))
	same, err := ane.Source{Program: p}.Tree()
	require.NoError(t, err)
	require.Same(t, p, same)
	_, err = ane.Source{Program: &mil.Program{}}.MIL()
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	_, err = ane.Source{Text: []byte("nonsense")}.Tree()
	require.ErrorAs(t, err, &list)
}

func TestSourceNeedsAProgram(t *testing.T) {
	d := device(t, adder(t))
	var none *build.Program
	for _, src := range []ane.Source{{}, {Program: (*mil.Program)(nil)}, {Program: none}} {
		_, err := d.Compile(t.Context(), src)
		require.ErrorIs(t, err, ane.ErrCompile)
		require.ErrorContains(t, err, "neither Program nor Text")
	}
}

// A built program brings its weights.
func TestABuiltProgramIsASource(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 4)
	f.Output("y", f.Conv(x, f.Weight("w", []float32{2, 3}, 1, 2, 1, 1)))
	p, err := b.Program()
	require.NoError(t, err)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Program: p})
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	_, err = r.Input("x").WriteFloat32([]float32{1, 2, 3, 4, 10, 20, 30, 40})
	require.NoError(t, err)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	got, err := r.Output("y").Float32s()
	require.NoError(t, err)
	require.Equal(t, []float32{32, 64, 96, 128}, got)
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}
