package ane_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/unimem"
)

// Bind reports all faults at once, in the order of the program, each with its fix.
func TestBindReportsEverything(t *testing.T) {
	f := adder(t)
	for _, name := range []string{"short", "typed", "late", "moved", "spoiled"} {
		f.in = append(f.in, newLayout(t, name, mil.FP16, 2, 5))
	}
	m := model(t, f)
	g, err := unimem.NewGrid(128, 2, unimem.StaleOnClose())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	_, err = g.Take()
	require.NoError(t, err)
	c, err := g.Take()
	require.NoError(t, err)
	moved, err := ane.OnCell(c, newLayout(t, "", mil.FP16, 2, 5))
	require.NoError(t, err)
	spoiled, err := ane.OnCell(c, newLayout(t, "s", mil.Int16, 2, 5))
	require.NoError(t, err)
	gone, err := unimem.Open(128)
	require.NoError(t, err)
	late, err := ane.OnBlock(gone, newLayout(t, "", mil.FP16, 2, 5))
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	shared := onBlock(t, newLayout(t, "zeta", mil.FP16, 2, 5))

	_, err = m.Bind(map[string]*ane.Tensor{
		"zeta": shared, "alpha": nil, "short": fp16On(t, 5), "typed": onBlock(t, newLayout(t, "i", mil.Int16, 2, 5)),
		"late": late, "moved": moved, "spoiled": spoiled, "yonder": shared, "abroad": nil,
	}, map[string]*ane.Tensor{"sum": shared})
	require.Error(t, err)
	// An indented line continues the one before.
	require.Equal(t, strings.ReplaceAll(`ane: bind on fake: input alpha: nothing bound; bind a tensor of layout alpha fp16[2 5] row 64 plane 128 batch 128
ane: bind on fake: input short: surface too short: program needs 128 bytes (short fp16[2 5] row 64 plane 128
	batch 128), tensor has 64 (x fp16[5] row 64 plane 64 batch 64); make the tensor with the layout of the Model
ane: bind on fake: input typed: layout differs: program has typed fp16[2 5] row 64 plane 128 batch 128, tensor
	i int16[2 5] row 64 plane 128 batch 128; make the tensor with the layout of the Model
ane: bind on fake: input late: memory is gone; bind before the memory is closed or returned
ane: bind on fake: input moved: tensor at an offset: starts at byte 128 of its surface [the engine reads every
	surface from byte 0]; take the cell from a Grid made with unimem.SurfacePerCell(), or make the tensor on its
	own Block
ane: bind on fake: input spoiled: layout differs: program has spoiled fp16[2 5] row 64 plane 128 batch 128,
	tensor s int16[2 5] row 64 plane 128 batch 128; make the tensor with the layout of the Model
ane: bind on fake: input spoiled: tensor at an offset: starts at byte 128 of its surface [the engine reads
	every surface from byte 0]; take the cell from a Grid made with unimem.SurfacePerCell(), or make the tensor on
	its own Block
ane: bind on fake: input abroad: no such name; the program has zeta, alpha, short, typed, late, moved, spoiled
ane: bind on fake: input yonder: no such name; the program has zeta, alpha, short, typed, late, moved, spoiled
ane: bind on fake: output sum: output shares memory: with input zeta; use separate memory for every output`, "\n\t", " "), err.Error())
	for _, s := range []error{ane.ErrUnbound, ane.ErrShort, ane.ErrMismatch, ane.ErrStale, ane.ErrOffset, ane.ErrName,
		ane.ErrAlias} {
		require.ErrorIs(t, err, s)
	}
	var e *ane.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "bind", e.Op)
	require.Zero(t, f.bound.Load(), "the engine is not called")
}

func TestBindAliases(t *testing.T) {
	f := adder(t)
	f.out = append(f.out, newLayout(t, "other", mil.FP16, 2, 5))
	f.offsets = true
	m := model(t, f)
	in := tensors(t, m.Inputs())
	b := open(t, 512)
	tape, err := unimem.Start(512)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tape.Close()) })
	span, err := tape.Take(192, 64)
	require.NoError(t, err)
	on := func(t *testing.T, at int) *ane.Tensor {
		x, err := ane.OnSpan(tape, span[at:], m.Outputs()[0])
		require.NoError(t, err)
		return x
	}
	whole, err := ane.OnBlock(b, m.Outputs()[0])
	require.NoError(t, err)

	_, err = m.Bind(in, map[string]*ane.Tensor{"sum": in["alpha"], "other": whole})
	require.ErrorIs(t, err, ane.ErrAlias)
	require.ErrorContains(t, err, "output sum: output shares memory: with input alpha")
	_, err = m.Bind(in, map[string]*ane.Tensor{"sum": on(t, 0), "other": on(t, 64)})
	require.ErrorIs(t, err, ane.ErrAlias, "half of it is shared")

	r, err := m.Bind(map[string]*ane.Tensor{"zeta": whole, "alpha": whole}, map[string]*ane.Tensor{"sum": on(t, 0),
		"other": in["zeta"]})
	require.NoError(t, err, "inputs may share")
	require.NoError(t, r.Close())
}

func TestBindHoldsBlocks(t *testing.T) {
	m := model(t, adder(t))
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	r, err := m.Bind(in, out)
	require.NoError(t, err)
	for _, x := range []*ane.Tensor{in["zeta"], in["alpha"], out["sum"]} {
		require.ErrorIs(t, x.Block().Close(), unimem.ErrInUse)
	}
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.NoError(t, in["zeta"].Block().Close())
}

func TestBindWhenTheEngineRefuses(t *testing.T) {
	f := adder(t)
	m := model(t, f)
	f.prepare = errors.New("no room")
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	_, err := m.Bind(in, out)
	require.ErrorIs(t, err, f.prepare)
	require.NoError(t, in["zeta"].Block().Close(), "Bind holds no Block after an error")
}

func TestViewsOfAnEngineWithoutViews(t *testing.T) {
	r := request(t, model(t, adder(t)))
	require.Nil(t, access.View(r, access.Input, "zeta"))
	require.Nil(t, access.View(r, access.Output, "sum"))
	require.Nil(t, access.View(r, access.Output, "nothing"))
}

// An engine writes outputs, so they are on writable memory; inputs need not be.
func TestBindReadOnly(t *testing.T) {
	m := model(t, adder(t))
	in := tensors(t, m.Inputs())
	l := m.Outputs()[0]
	b, err := unimem.AdoptMemory(make([]byte, l.Bytes()), nil, unimem.ReadOnly())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	x, err := ane.OnBlock(b, l)
	require.NoError(t, err)
	_, err = m.Bind(in, map[string]*ane.Tensor{"sum": x})
	require.ErrorIs(t, err, ane.ErrReadOnly)
	require.ErrorContains(t, err, "output sum: memory is read-only")

	out := tensors(t, m.Outputs())
	r, err := m.Bind(map[string]*ane.Tensor{"zeta": x, "alpha": x}, out)
	require.NoError(t, err)
	require.NoError(t, r.Close())
}
