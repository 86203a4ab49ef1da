package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

func TestOnBlock(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 300, 31) // 19,200 bytes
	b := open(t, l.Bytes())
	x, err := ane.OnBlock(b, l)
	require.NoError(t, err)
	require.Same(t, b, x.Block())
	require.Zero(t, x.Offset())
	require.Len(t, x.Bytes(), 19200)
	require.Equal(t, 19200, cap(x.Bytes()))
	x.Bytes()[7] = 9
	require.Equal(t, byte(9), b.Bytes()[7])

	_, err = ane.OnBlock(open(t, 1), l)
	require.ErrorIs(t, err, ane.ErrShort)
	require.ErrorContains(t, err, "layout needs 19200 bytes, memory has 16384")
	_, err = ane.OnBlock(nil, l)
	require.ErrorIs(t, err, ane.ErrStale)
}

// A tensor has its own copy of the shape: changes to slices passed in or returned do not
// change it.
func TestTensorSharesNoShape(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 2, 3)
	x := onBlock(t, l)
	l.Shape[0] = 1 << 30
	x.Layout().Shape[1] = 1 << 30
	_, err := x.At(2, 0)
	require.ErrorIs(t, err, ane.ErrShape)
	_, err = x.At(0, 1<<29)
	require.ErrorIs(t, err, ane.ErrShape)
}

func TestTensorOnClosedBlock(t *testing.T) {
	b, err := unimem.Open(64)
	require.NoError(t, err)
	x, err := ane.OnBlock(b, newLayout(t, "x", mil.FP16, 4))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	stale(t, x)
	_, err = ane.OnBlock(b, x.Layout())
	require.ErrorIs(t, err, ane.ErrStale)
}

// stale checks that every call returns ErrStale.
func stale(t *testing.T, x *ane.Tensor) {
	t.Helper()
	require.Nil(t, x.Bytes())
	other := fp16On(t, 4)
	for name, call := range map[string]func() error{
		"At":           func() error { _, err := x.At(0); return err },
		"Set":          func() error { return x.Set(1, 0) },
		"Row":          func() error { _, err := x.Row(0); return err },
		"Write":        func() error { _, err := x.Write(make([]byte, 8)); return err },
		"Read":         func() error { _, err := x.Read(make([]byte, 8)); return err },
		"WriteFloat32": func() error { _, err := x.WriteFloat32(make([]float32, 4)); return err },
		"ReadFloat32":  func() error { _, err := x.ReadFloat32(make([]float32, 4)); return err },
		"Copy to":      func() error { _, err := ane.Copy(x, other); return err },
		"Copy from":    func() error { _, err := ane.Copy(other, x); return err },
	} {
		require.ErrorIs(t, call(), ane.ErrStale, name)
	}
}

func TestOnCell(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 4)
	for name, opts := range map[string][]unimem.Option{"carved": nil, "own surface": {unimem.SurfacePerCell()}} {
		t.Run(name, func(t *testing.T) {
			g, err := unimem.NewGrid(128, 3, append(opts, unimem.StaleOnClose())...)
			require.NoError(t, err)
			defer func() { require.NoError(t, g.Close()) }()
			var tensors []*ane.Tensor
			var cells []unimem.Cell
			for range 3 {
				c, err := g.Take()
				require.NoError(t, err)
				x, err := ane.OnCell(c, l)
				require.NoError(t, err)
				require.Equal(t, c.Offset(), x.Offset())
				if opts != nil {
					require.Zero(t, x.Offset())
				} else {
					require.Equal(t, 128*c.Index(), x.Offset())
				}
				require.NoError(t, x.Set(float32(c.Index()), 3))
				tensors, cells = append(tensors, x), append(cells, c)
			}
			for i, x := range tensors {
				v, err := x.At(3)
				require.NoError(t, err)
				require.Equal(t, float32(cells[i].Index()), v)
			}
			_, err = ane.OnCell(cells[0], newLayout(t, "x", mil.FP16, 65))
			require.ErrorIs(t, err, ane.ErrShort)
			require.ErrorContains(t, err, "layout needs 192 bytes, memory has 128")
			require.NoError(t, g.Give(cells[0]))
			stale(t, tensors[0])
			_, err = ane.OnCell(cells[0], l)
			require.ErrorIs(t, err, ane.ErrStale)
		})
	}
	_, err := ane.OnCell(unimem.Cell{}, l)
	require.ErrorIs(t, err, ane.ErrStale)
}

func TestOnCellOfClosedGrid(t *testing.T) {
	g, err := unimem.NewGrid(64, 1, unimem.StaleOnClose())
	require.NoError(t, err)
	c, err := g.Take()
	require.NoError(t, err)
	x, err := ane.OnCell(c, newLayout(t, "x", mil.FP16, 4))
	require.NoError(t, err)
	require.NoError(t, g.Close())
	stale(t, x)
}

func TestOnSpan(t *testing.T) {
	tape, err := unimem.Start(1 << 14)
	require.NoError(t, err)
	l := newLayout(t, "x", mil.FP16, 4)
	first, err := tape.Take(64, 64)
	require.NoError(t, err)
	odd, err := tape.Take(96, 32)
	require.NoError(t, err)
	third, err := tape.Take(128, 64)
	require.NoError(t, err)

	x, err := ane.OnSpan(tape, first, l)
	require.NoError(t, err)
	require.Zero(t, x.Offset())
	y, err := ane.OnSpan(tape, third, l)
	require.NoError(t, err)
	require.Equal(t, 192, y.Offset())
	require.NoError(t, y.Set(2, 1))
	require.Equal(t, byte(0x40), tape.Block().Bytes()[192+3])

	_, err = ane.OnSpan(tape, odd[32:], l)
	require.ErrorIs(t, err, ane.ErrAligned, "byte 96")
	_, err = ane.OnSpan(tape, third[:32], l)
	require.ErrorIs(t, err, ane.ErrShort)
	_, err = ane.OnSpan(tape, make([]byte, 64), l)
	require.ErrorIs(t, err, unimem.ErrForeignSpan)
	_, err = ane.OnSpan(tape, nil, l)
	require.ErrorIs(t, err, unimem.ErrForeignSpan)
	_, err = ane.OnSpan(nil, first, l)
	require.ErrorIs(t, err, ane.ErrStale)

	require.NoError(t, tape.Close())
	stale(t, x)
	_, err = ane.OnSpan(tape, first, l)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

func TestRow(t *testing.T) {
	x := fp16On(t, 2, 3, 5)
	for i := range x.Layout().Rows() {
		row, err := x.Row(i)
		require.NoError(t, err)
		require.Len(t, row, 10)
		require.Equal(t, 10, cap(row))
		row[0] = byte(i + 1)
		require.Equal(t, byte(i+1), x.Bytes()[i*64])
	}
	for _, i := range []int{-1, 6, 1 << 62} {
		_, err := x.Row(i)
		require.ErrorIs(t, err, ane.ErrShape)
	}
}

// The zero Tensor behaves like a stale one.
func TestZeroTensor(t *testing.T) {
	var x ane.Tensor
	require.Nil(t, x.Bytes())
	_, err := x.At()
	require.ErrorIs(t, err, ane.ErrStale)
	_, err = x.Read(nil)
	require.ErrorIs(t, err, ane.ErrStale)
}

func TestOnRange(t *testing.T) {
	b := open(t, unimem.PageSize)
	l := newLayout(t, "x", mil.FP16, 2, 3)
	x, err := ane.OnRange(b, 256, l)
	require.NoError(t, err)
	require.NoError(t, x.Set(1.5, 1, 2))
	require.Equal(t, 256, x.Offset())
	require.Equal(t, []byte{0, 0x3e}, b.Bytes()[256+64+4:256+64+6])
	_, err = ane.OnRange(b, 3, l)
	require.ErrorIs(t, err, ane.ErrAligned)
	for _, offset := range []int{-64, unimem.PageSize - 64, unimem.PageSize, unimem.PageSize + 64} {
		_, err = ane.OnRange(b, offset, l)
		require.ErrorIs(t, err, ane.ErrShort, offset)
	}
	_, err = ane.OnRange(nil, 0, l)
	require.ErrorIs(t, err, ane.ErrStale)
	require.NoError(t, b.Close())
	require.Nil(t, x.Bytes())
	_, err = ane.OnRange(b, 0, l)
	require.ErrorIs(t, err, ane.ErrStale)
}

// A span of before Clear is stale, on a Tape of one Block and of several.
func TestSpanOfBeforeClear(t *testing.T) {
	for _, opts := range [][]unimem.Option{nil, {unimem.SurfacePerSpan()}, {unimem.InBlocks(1 << 14)}} {
		tape, err := unimem.Start(1<<16, opts...)
		require.NoError(t, err)
		l := newLayout(t, "x", mil.FP16, 1, 32)
		span, err := tape.Take(l.Bytes(), ane.RowAlign)
		require.NoError(t, err)
		x, err := ane.OnSpan(tape, span, l)
		require.NoError(t, err)
		tape.Clear()
		_, err = x.At(0, 0)
		require.ErrorIs(t, err, ane.ErrStale)
		_, err = ane.OnSpan(tape, span, l)
		require.ErrorIs(t, err, ane.ErrStale)
		require.NoError(t, tape.Close())
	}
}
