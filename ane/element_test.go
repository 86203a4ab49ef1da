package ane_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

// Set converts to every element type as documented.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		dtype     mil.DType
		set, want float32
	}{
		{mil.FP16, 1.5, 1.5},
		{mil.FP16, 2049, 2048},         // halfway, to even
		{mil.FP16, 2051, 2052},         // likewise
		{mil.FP16, 2048.001, 2048},     // below halfway
		{mil.FP16, 2049.001, 2050},     // above halfway
		{mil.FP16, 65519.996, 65504},   // the largest that does not overflow
		{mil.FP16, 65520, inf},         //
		{mil.FP16, -1e9, -inf},         //
		{mil.FP16, 0x1p-24, 0x1p-24},   // smallest subnormal
		{mil.FP16, 0x1p-25, 0},         // halfway, to even
		{mil.FP16, 0x1.8p-25, 0x1p-24}, // above halfway
		{mil.FP16, nan, nan},           //
		{mil.FP32, 0x1.000002p0, 0x1.000002p0},
		{mil.FP32, -inf, -inf},
		{mil.FP32, nan, nan},
		{mil.Bool, 0, 0}, {mil.Bool, -0.1, 1}, {mil.Bool, 7, 1}, {mil.Bool, nan, 1},
		{mil.Int8, 1.9, 1}, {mil.Int8, -1.9, -1}, {mil.Int8, 200, 127}, {mil.Int8, -200, -128}, {mil.Int8, nan, 0},
		{mil.UInt8, 255.9, 255}, {mil.UInt8, 256, 255}, {mil.UInt8, -1, 0}, {mil.UInt8, -0.9, 0},
		{mil.Int16, 40000, 32767}, {mil.Int16, -40000, -32768}, {mil.Int16, -12.5, -12},
		{mil.UInt16, 70000, 65535}, {mil.UInt16, -inf, 0},
		{mil.Int32, 1 << 24, 1 << 24}, {mil.Int32, 1e12, 1 << 31}, {mil.Int32, -1e12, -1 << 31},
		{mil.Int32, inf, 1 << 31},
		{mil.UInt32, 3e9, 3e9}, {mil.UInt32, 1e12, 1 << 32}, {mil.UInt32, -3, 0},
	} {
		x := onBlock(t, newLayout(t, "x", c.dtype, 2, 3))
		require.NoError(t, x.Set(c.set, 1, 2))
		got, err := x.At(1, 2)
		require.NoError(t, err)
		if c.want != c.want {
			require.True(t, got != got, "%s of NaN is %v", c.dtype, got)
			continue
		}
		require.Equal(t, c.want, got, "%s of %v", c.dtype, c.set)

		elements := make([]float32, 6)
		elements[5] = c.set
		require.NoError(t, second(x.WriteFloat32(elements)))
		bulk := make([]float32, 6)
		require.NoError(t, second(x.ReadFloat32(bulk)))
		require.Equal(t, append(make([]float32, 5), c.want), bulk, "the bulk forms convert the same: %s of %v",
			c.dtype, c.set)
	}
}

func second(_ int, err error) error { return err }

func TestScalar(t *testing.T) {
	x := fp16On(t)
	require.NoError(t, x.Set(4))
	v, err := x.At()
	require.NoError(t, err)
	require.Equal(t, float32(4), v)
}

func TestIndexRefused(t *testing.T) {
	x := fp16On(t, 2, 3)
	for _, index := range [][]int{nil, {0}, {0, 3}, {2, 0}, {-1, 0}, {0, 0, 0}} {
		_, err := x.At(index...)
		require.ErrorIs(t, err, ane.ErrShape)
		require.ErrorIs(t, x.Set(1, index...), ane.ErrShape)
	}
	require.Equal(t, make([]byte, 128), x.Bytes(), "nothing was written")
}
