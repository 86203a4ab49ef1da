package ane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// shapes have rows with and without padding, one row, one element.
var shapes = [][]int{{}, {1}, {40}, {2, 32}, {2, 3, 5}, {1, 2, 3, 64}, {2, 2, 2, 2, 3}}

var storable = []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
	mil.UInt32}

// Write and Read copy and count the tensor's bytes, and do not change padding.
func TestWriteRead(t *testing.T) {
	for _, shape := range shapes {
		for _, d := range storable {
			l := newLayout(t, "x", d, shape...)
			x := onBlock(t, l)
			for i := range x.Block().Bytes() {
				x.Block().Bytes()[i] = 0xee
			}
			packed := make([]byte, l.PackedBytes())
			for i := range packed {
				packed[i] = byte(i*7 + 1)
			}
			n, err := x.Write(packed)
			require.NoError(t, err)
			require.Equal(t, l.PackedBytes(), n)
			back := make([]byte, l.PackedBytes())
			n, err = x.Read(back)
			require.NoError(t, err)
			require.Equal(t, l.PackedBytes(), n)
			require.Equal(t, packed, back, "%s%v", d, shape)
			for i := range l.Rows() {
				row, err := x.Row(i)
				require.NoError(t, err)
				require.Equal(t, packed[i*l.RowBytes():][:l.RowBytes()], row)
			}
			kept := 0
			for _, b := range x.Block().Bytes() {
				if b == 0xee {
					kept++
				}
			}
			require.GreaterOrEqual(t, kept, x.Block().Size()-l.PackedBytes(), "padding and slack do not change")
		}
	}
}

// The float32 forms count the tensor's bytes, not the slice's.
func TestFloat32Counts(t *testing.T) {
	for _, shape := range shapes {
		for _, d := range storable {
			x := onBlock(t, newLayout(t, "x", d, shape...), unimem.OnHeap())
			f := make([]float32, x.Layout().Elements())
			for i := range f {
				f[i] = 1
			}
			n, err := x.WriteFloat32(f)
			require.NoError(t, err)
			require.Equal(t, x.Layout().PackedBytes(), n)
			clear(f)
			n, err = x.ReadFloat32(f)
			require.NoError(t, err)
			require.Equal(t, x.Layout().PackedBytes(), n)
			for _, v := range f {
				require.Equal(t, float32(1), v)
			}
		}
	}
}

func TestWrongLength(t *testing.T) {
	x := fp16On(t, 2, 3)
	for _, n := range []int{0, 5, 7, 11, 13} {
		for name, err := range map[string]error{
			"Write":        second(x.Write(make([]byte, n))),
			"Read":         second(x.Read(make([]byte, n))),
			"WriteFloat32": second(x.WriteFloat32(make([]float32, n))),
			"ReadFloat32":  second(x.ReadFloat32(make([]float32, n))),
		} {
			require.ErrorIs(t, err, ane.ErrLength, "%s of %d", name, n)
		}
	}
}

func TestCopy(t *testing.T) {
	wide := newLayout(t, "wide", mil.FP16, 2, 3, 5)
	wide.RowStride, wide.DepthStride, wide.PlaneStride, wide.BatchStride = 128, 384, 384, 768
	padded, other, full := fp16On(t, 2, 3, 5), onBlock(t, wide), fp16On(t, 2, 32)
	packed := make([]byte, 60)
	for i := range packed {
		packed[i] = byte(i + 1)
	}
	require.NoError(t, second(padded.Write(packed)))
	n, err := ane.Copy(other, padded)
	require.NoError(t, err)
	require.Equal(t, 60, n)
	back := make([]byte, 60)
	require.NoError(t, second(other.Read(back)))
	require.Equal(t, packed, back)

	twin := fp16On(t, 2, 32)
	full.Bytes()[127] = 3
	n, err = ane.Copy(twin, full)
	require.NoError(t, err)
	require.Equal(t, 128, n)
	require.Equal(t, full.Bytes(), twin.Bytes())
	n, err = ane.Copy(full, full)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestCopyRefuses(t *testing.T) {
	x := fp16On(t, 2, 3)
	for _, y := range []*ane.Tensor{fp16On(t, 3, 2), fp16On(t, 1, 2, 3),
		onBlock(t, newLayout(t, "y", mil.Int16, 2, 3))} {
		_, err := ane.Copy(x, y)
		require.ErrorIs(t, err, ane.ErrMismatch)
	}
	_, err := ane.Copy(nil, x)
	require.ErrorIs(t, err, ane.ErrUnbound)
	_, err = ane.Copy(x, nil)
	require.ErrorIs(t, err, ane.ErrUnbound)

	wide := x.Layout()
	wide.RowStride, wide.DepthStride, wide.PlaneStride, wide.BatchStride = 128, 256, 256, 256
	over, err := ane.OnBlock(x.Block(), wide)
	require.NoError(t, err)
	_, err = ane.Copy(over, x)
	require.ErrorIs(t, err, ane.ErrAlias)
}
