package dlpack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// An export has the tensor's bytes, and retains its Block until the deleter.
func TestExport(t *testing.T) {
	l, err := ane.NewLayout("x", mil.FP16, 2, 3, 5)
	require.NoError(t, err)
	b, err := unimem.Open(l.Bytes())
	require.NoError(t, err)
	x, err := ane.OnBlock(b, l)
	require.NoError(t, err)
	before := dlpack.Live()
	ended := 0
	m, err := dlpack.Export(x, dlpack.OnDelete(func() { ended++ }), nil)
	require.NoError(t, err)
	require.Equal(t, before.Exported+1, dlpack.Live().Exported)
	require.Equal(t, dlpack.Version{Major: 1}, m.Version)
	require.Zero(t, m.Flags)
	require.Equal(t, b.Address(), m.Tensor.Data)
	require.Zero(t, m.Tensor.ByteOffset)
	require.Equal(t, dlpack.Device{Type: dlpack.CPU}, m.Tensor.Device)
	require.Equal(t, int32(3), m.Tensor.NDim)
	require.Equal(t, dlpack.DataType{Code: dlpack.Float, Bits: 16, Lanes: 1}, m.Tensor.DType)
	require.Same(t, m, dlpack.At(m.Address()))

	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.Zero(t, ended)
	m.Delete()
	require.Equal(t, 1, ended)
	require.Equal(t, before, dlpack.Live())
	require.NoError(t, b.Close())
	_, err = dlpack.Export(x)
	require.ErrorIs(t, err, ane.ErrStale)
	_, err = dlpack.ExportLegacy(x)
	require.ErrorIs(t, err, ane.ErrStale)
	_, err = dlpack.Export(nil)
	require.ErrorIs(t, err, ane.ErrStale)
	require.Equal(t, before, dlpack.Live())
}

// What is exported and imported again has the same type, shape, elements and flags.
func TestRoundTrip(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
		mil.UInt32} {
		for _, shape := range [][]int{{}, {7}, {3, 5}, {2, 3, 5}, {2, 3, 4, 5}, {2, 1, 3, 2, 33}} {
			for _, legacy := range []bool{false, true} {
				l, err := ane.NewLayout("x", d, shape...)
				require.NoError(t, err)
				x, err := ane.OnBlock(open(t, l.Bytes()), l)
				require.NoError(t, err)
				values := make([]float32, l.Elements())
				for i := range values {
					values[i] = float32(i % 2)
				}
				_, err = x.WriteFloat32(values)
				require.NoError(t, err)
				y := again(t, x, legacy)
				require.Equal(t, d, y.DType())
				if len(shape) > 0 {
					require.Equal(t, shape, y.Layout().Shape)
				}
				got, err := y.Float32s()
				require.NoError(t, err)
				require.Equal(t, values, got)
				require.NoError(t, y.Set(1, make([]int, len(shape))...))
				v, err := x.At(make([]int, len(shape))...)
				require.NoError(t, err)
				require.Equal(t, float32(1), v, "the bytes are shared")
				require.NoError(t, y.Block().Close())
			}
		}
	}
}

// again exports and imports x.
func again(t testing.TB, x *ane.Tensor, legacy bool, opts ...dlpack.Option) *ane.Tensor {
	t.Helper()
	if legacy {
		m, err := dlpack.ExportLegacy(x, opts...)
		require.NoError(t, err)
		y, err := dlpack.ImportLegacy(dlpack.AtLegacy(m.Address()))
		require.NoError(t, err)
		return y
	}
	m, err := dlpack.Export(x, opts...)
	require.NoError(t, err)
	y, err := dlpack.Import(dlpack.At(m.Address()))
	require.NoError(t, err)
	return y
}

// A slice is exported at its first element.
func TestExportSlice(t *testing.T) {
	x := tensor(t, 4, 8)
	part, err := x.Slice(0, 1, 3)
	require.NoError(t, err)
	part, err = part.Slice(1, 2, 7)
	require.NoError(t, err)
	want, err := part.Float32s()
	require.NoError(t, err)

	m, err := dlpack.Export(part)
	require.NoError(t, err)
	require.Equal(t, x.Block().Address()+64+4, m.Tensor.Data)
	require.Zero(t, m.Tensor.ByteOffset)
	y, err := dlpack.Import(m)
	require.NoError(t, err)
	got, err := y.Float32s()
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, y.Block().Close())
}

func TestReadOnly(t *testing.T) {
	x := tensor(t, 4)
	y := again(t, x, false, dlpack.ReadOnly())
	require.True(t, y.Block().ReadOnly())
	require.ErrorIs(t, y.Set(1, 0), ane.ErrReadOnly)
	requireCount(t, y)
	m, err := dlpack.Export(y) // of read-only memory, without the option
	require.NoError(t, err)
	require.Equal(t, uint64(dlpack.FlagReadOnly), m.Flags)
	require.ErrorIs(t, y.Block().Close(), unimem.ErrInUse)
	_, err = dlpack.ExportLegacy(y)
	require.ErrorIs(t, err, ane.ErrReadOnly)
	_, err = dlpack.ExportLegacy(x, dlpack.ReadOnly())
	require.ErrorIs(t, err, ane.ErrReadOnly)
	m.Delete()
	require.NoError(t, y.Block().Close())
}

// A cell and a span are exported like other memory; their owner cannot close during the export.
func TestExportOfCellsAndSpans(t *testing.T) {
	l, err := ane.NewLayout("x", mil.FP16, 4)
	require.NoError(t, err)
	g, err := unimem.NewGrid(64, 2)
	require.NoError(t, err)
	first, err := g.Take()
	require.NoError(t, err)
	c, err := g.Take()
	require.NoError(t, err)
	x, err := ane.OnCell(c, l)
	require.NoError(t, err)
	m, err := dlpack.Export(x, dlpack.OnDelete(func() { require.NoError(t, g.Give(c)) }))
	require.NoError(t, err)
	require.Equal(t, 0, g.Free())
	m.Delete()
	require.Equal(t, 1, g.Free(), "OnDelete gives the cell")
	_, err = dlpack.Export(x)
	require.ErrorIs(t, err, ane.ErrStale)
	require.NoError(t, g.Give(first))
	require.NoError(t, g.Close())

	tape, err := unimem.Start(1 << 14)
	require.NoError(t, err)
	span, err := tape.Take(64, 64)
	require.NoError(t, err)
	y, err := ane.OnSpan(tape, span, l)
	require.NoError(t, err)
	m, err = dlpack.Export(y)
	require.NoError(t, err)
	require.ErrorIs(t, tape.Close(), unimem.ErrInUse)
	m.Delete()
	tape.Clear()
	_, err = dlpack.Export(y)
	require.ErrorIs(t, err, ane.ErrStale)
	require.NoError(t, tape.Close())
}

// A deleter that is called twice, or with something that is no export, is counted and changes nothing.
func TestDeleterCalledWrongly(t *testing.T) {
	x := tensor(t, 4)
	before := dlpack.Live()
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	copied := *m
	copied.Delete()
	require.Equal(t, before.Exported+1, dlpack.Live().Exported, "a copy is no export")
	require.ErrorIs(t, x.Block().Close(), unimem.ErrInUse)
	m.Delete()
	m.Delete()
	copied.ManagerCtx = 0
	copied.Delete()
	copied.ManagerCtx = 1 << 40
	copied.Delete()
	require.Equal(t, dlpack.Stats{Exported: before.Exported, Refused: before.Refused + 4}, dlpack.Live())
	(*dlpack.ManagedTensorVersioned)(nil).Delete()
	(*dlpack.ManagedTensor)(nil).Delete()
}

// Exports have addresses and contents of their own.
func TestManyExports(t *testing.T) {
	x := tensor(t, 3, 4)
	seen := map[uintptr]bool{}
	var all []*dlpack.ManagedTensorVersioned
	for i := range 300 {
		m, err := dlpack.Export(x)
		require.NoError(t, err)
		require.False(t, seen[m.Address()], "export %d", i)
		seen[m.Address()] = true
		all = append(all, m)
	}
	for _, m := range all {
		require.Equal(t, x.Block().Address(), m.Tensor.Data)
		m.Delete()
	}
	for range 300 {
		m, err := dlpack.Export(x)
		require.NoError(t, err)
		require.True(t, seen[m.Address()], "deleted exports are used again")
		defer m.Delete()
	}
}

// Export and Delete allocate nothing.
func TestExportAllocatesNothing(t *testing.T) {
	x := tensor(t, 2, 3, 4)
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	m.Delete()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		m, err := dlpack.Export(x)
		if err != nil {
			t.Error(err)
		}
		m.Delete()
	}))
}
