package dlpack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/dlpack"
)

// A refused tensor goes back to its producer: Import has called the deleter, once.
func TestImportRefuses(t *testing.T) {
	x := tensor(t, 3, 4)
	for name, c := range map[string]struct {
		want  error
		spoil func(m *dlpack.ManagedTensorVersioned)
	}{
		"major version 2":        {dlpack.ErrVersion, func(m *dlpack.ManagedTensorVersioned) { m.Version.Major = 2 }},
		"major version 0":        {dlpack.ErrVersion, func(m *dlpack.ManagedTensorVersioned) { m.Version.Major = 0 }},
		"unknown flag":           {dlpack.ErrVersion, func(m *dlpack.ManagedTensorVersioned) { m.Flags = 8 }},
		"unknown flag of bit 63": {dlpack.ErrVersion, func(m *dlpack.ManagedTensorVersioned) { m.Flags = 1 << 63 }},
		"memory of CUDA": {dlpack.ErrDevice,
			func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = 2 }},
		"memory of Metal": {dlpack.ErrDevice,
			func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = 8 }},
		"no device": {dlpack.ErrDevice,
			func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = 0 }},
		"float64":                {ane.ErrType, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.DType.Bits = 64 }},
		"bfloat16":               {ane.ErrType, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.DType.Code = 4 }},
		"vectors":                {ane.ErrType, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.DType.Lanes = 4 }},
		"no lanes":               {ane.ErrType, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.DType.Lanes = 0 }},
		"rank -1":                {ane.ErrShape, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.NDim = -1 }},
		"rank 6":                 {ane.ErrShape, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.NDim = 6 }},
		"huge rank":              {ane.ErrShape, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.NDim = 1<<31 - 1 }},
		"no lengths":             {dlpack.ErrPointer, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Shape = 0 }},
		"lengths at odd address": {dlpack.ErrPointer, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Shape++ }},
		"strides at odd address": {dlpack.ErrPointer, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Strides += 4 }},
		"no data":                {dlpack.ErrPointer, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Data = 0 }},
		"huge offset": {dlpack.ErrPointer,
			func(m *dlpack.ManagedTensorVersioned) { m.Tensor.ByteOffset = 1<<64 - 2 }},
		"end of memory": {dlpack.ErrPointer,
			func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Data = ^uintptr(0) - 7 }},
		"odd offset": {ane.ErrAligned, func(m *dlpack.ManagedTensorVersioned) { m.Tensor.ByteOffset = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			before := dlpack.Live()
			ended := 0
			m, err := dlpack.Export(x, dlpack.OnDelete(func() { ended++ }))
			require.NoError(t, err)
			c.spoil(m)
			_, err = dlpack.Import(m)
			require.ErrorIs(t, err, c.want)
			var e *ane.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Hint)
			require.Equal(t, 1, ended)
			require.Equal(t, before, dlpack.Live())
		})
	}
}

// An address that can be no managed tensor is not read.
func TestImportOfNothing(t *testing.T) {
	before := dlpack.Live()
	for _, address := range []uintptr{0, 1, 4, 12345} {
		_, err := dlpack.Import(dlpack.At(address))
		require.ErrorIs(t, err, dlpack.ErrPointer)
		_, err = dlpack.ImportLegacy(dlpack.AtLegacy(address))
		require.ErrorIs(t, err, dlpack.ErrPointer)
	}
	require.Equal(t, before, dlpack.Live())
}

// A newer minor version, pinned memory and a missing deleter are accepted.
func TestImportAccepts(t *testing.T) {
	x := tensor(t, 3, 4)
	for name, spoil := range map[string]func(m *dlpack.ManagedTensorVersioned){
		"version 1.99":    func(m *dlpack.ManagedTensorVersioned) { m.Version.Minor = 99 },
		"a copy":          func(m *dlpack.ManagedTensorVersioned) { m.Flags = dlpack.FlagCopied },
		"pinned by CUDA":  func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = dlpack.CUDAHost },
		"pinned by ROCm":  func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.Type = dlpack.ROCmHost },
		"another CPU":     func(m *dlpack.ManagedTensorVersioned) { m.Tensor.Device.ID = 1 },
		"without deleter": func(m *dlpack.ManagedTensorVersioned) { m.Deleter = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			m, err := dlpack.Export(x)
			require.NoError(t, err)
			deleter := m.Deleter
			spoil(m)
			y, err := dlpack.Import(m)
			require.NoError(t, err)
			requireCount(t, y)
			require.NoError(t, y.Block().Close())
			if m.Deleter != deleter {
				m.Deleter = deleter
				m.Delete()
			}
		})
	}
}

// Without strides a tensor is row-major.
func TestImportWithoutStrides(t *testing.T) {
	x := tensor(t, 64) // one row without padding
	m, err := dlpack.Export(x)
	require.NoError(t, err)
	shape := m.Tensor.Shape
	lengths := dlpack.Numbers(shape, 3)
	lengths[0], lengths[1], lengths[2] = 2, 4, 8
	m.Tensor.NDim, m.Tensor.Strides = 3, 0
	y, err := dlpack.Import(m)
	require.NoError(t, err)
	require.Equal(t, []int{2, 4, 8}, y.Layout().Shape)
	requireCount(t, y)
	require.NoError(t, y.Block().Close())

	for _, l := range [][3]int64{{1 << 62, 1 << 62, 1 << 62}, {2, -1 << 63, 3}, {1, 0, 1}, {1 << 40, 1, 2}} {
		m, err := dlpack.Export(x)
		require.NoError(t, err)
		copy(dlpack.Numbers(m.Tensor.Shape, 3), l[:])
		m.Tensor.NDim, m.Tensor.Strides = 3, 0
		_, err = dlpack.Import(m)
		require.ErrorIs(t, err, ane.ErrShape, "%v", l)
	}
}

// Any numbers in a managed tensor are refused or give a tensor within its memory.
func FuzzImport(f *testing.F) {
	f.Add(uint8(2), uint8(16), uint16(1), int32(2), int64(3), int64(4), int64(32), int64(1), uint16(0), false)
	f.Add(uint8(0), uint8(8), uint16(1), int32(1), int64(9), int64(0), int64(2), int64(1), uint16(3), true)
	f.Add(uint8(6), uint8(8), uint16(1), int32(0), int64(-1), int64(1<<62), int64(1<<62), int64(-1), uint16(9), true)
	x := tensor(f, 64, 64)
	f.Fuzz(func(t *testing.T, code, bits uint8, lanes uint16, rank int32, a, b, sa, sb int64, offset uint16,
		dense bool) {
		ended := 0
		m, err := dlpack.Export(x, dlpack.OnDelete(func() { ended++ }))
		require.NoError(t, err)
		copy(dlpack.Numbers(m.Tensor.Shape, 2), []int64{a, b})
		copy(dlpack.Numbers(m.Tensor.Strides, 2), []int64{sa, sb})
		m.Tensor.DType = dlpack.DataType{Code: code, Bits: bits, Lanes: lanes}
		m.Tensor.NDim, m.Tensor.ByteOffset = rank%3, uint64(offset)
		if dense {
			m.Tensor.Strides = 0
		}
		y, err := dlpack.Import(m)
		if err != nil {
			require.Equal(t, 1, ended, "%v", err)
			return
		}
		l := y.Layout()
		require.NoError(t, l.Check())
		require.Equal(t, x.Block().Address()+uintptr(offset), y.Block().Address())
		last := make([]int, len(l.Shape))
		for i, n := range l.Shape {
			last[i] = n - 1
		}
		at, err := l.Offset(last...)
		require.NoError(t, err)
		require.Equal(t, y.Block().Size(), at+l.DType.Size(), "the Block ends with the last element")
		require.Zero(t, ended)
		require.NoError(t, y.Block().Close())
		require.Equal(t, 1, ended)
	})
}
