package element_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
)

func TestStoreAndLoad(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		d     mil.DType
		v     float64
		bytes []byte
		back  float64
	}{
		{mil.FP16, 1, []byte{0x00, 0x3c}, 1}, {mil.FP16, 65520, []byte{0x00, 0x7c}, inf},
		{mil.FP16, 0x1p-24, []byte{1, 0}, 0x1p-24},
		{mil.FP16, 2049, []byte{0x00, 0x68}, 2048}, {mil.FP16, 2049 + 0x1p-40, []byte{0x01, 0x68}, 2050},
		{mil.FP32, -1.5, []byte{0, 0, 0xc0, 0xbf}, -1.5}, {mil.FP32, 16777217, []byte{0, 0, 0x80, 0x4b}, 16777216},
		{mil.FP64, 0.1, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)), 0.1},
		{mil.Bool, 0, []byte{0}, 0}, {mil.Bool, math.Copysign(0, -1), []byte{0}, 0}, {mil.Bool, -0.25, []byte{1}, 1},
		{mil.Bool, nan, []byte{1}, 1},
		{mil.Int8, -1.9, []byte{0xff}, -1}, {mil.Int8, 200, []byte{127}, 127}, {mil.Int8, -inf, []byte{0x80}, -128},
		{mil.Int8, nan, []byte{0}, 0},
		{mil.UInt8, -3, []byte{0}, 0}, {mil.UInt8, 255.9, []byte{255}, 255}, {mil.UInt8, 1e9, []byte{255}, 255},
		{mil.Int16, -40000, []byte{0, 0x80}, -32768}, {mil.Int16, 258, []byte{2, 1}, 258},
		{mil.UInt16, 65535.5, []byte{255, 255}, 65535},
		{mil.Int32, 1e10, []byte{255, 255, 255, 127}, math.MaxInt32},
		{mil.Int32, -1e10, []byte{0, 0, 0, 0x80}, math.MinInt32},
		{mil.UInt32, 4294967295, []byte{255, 255, 255, 255}, 4294967295},
		{mil.UInt32, inf, []byte{255, 255, 255, 255}, 4294967295},
		{mil.Int4, -9.5, []byte{0xf8}, -8}, {mil.Int4, 7.9, []byte{7}, 7}, {mil.UInt4, 16, []byte{15}, 15},
		{mil.Int1, -3, []byte{0xff}, -1}, {mil.UInt1, 2, []byte{1}, 1}, {mil.UInt6, nan, []byte{0}, 0},
		{mil.BF16, 1.5, []byte{0xc0, 0x3f}, 1.5}, {mil.BF16, 1 + 0x1p-8, []byte{0x80, 0x3f}, 1}, // ties to even
		{mil.BF16, 1 + 0x1p-8 + 0x1p-40, []byte{0x81, 0x3f}, 1 + 0x1p-7},
		{mil.BF16, 1 + 3*0x1p-8 - 0x1p-40, []byte{0x81, 0x3f}, 1 + 0x1p-7},
		{mil.BF16, -0x1.ffp127, []byte{0x80, 0xff}, -inf}, {mil.BF16, 1e300, []byte{0x80, 0x7f}, inf},
	} {
		e := []byte{0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5}
		require.True(t, element.Store(c.d, e, c.v))
		n := element.Size(c.d)
		require.Equal(t, c.bytes, e[:n], "%s %v", c.d, c.v)
		require.Equal(t, byte(0xA5), e[n], "%s wrote after its element", c.d)
		require.Equal(t, c.back, element.Load(c.d, e), "%s %v", c.d, c.v)
	}
}

func TestOtherTypes(t *testing.T) {
	e := make([]byte, 8)
	for _, d := range []mil.DType{mil.String, mil.Int64, mil.UInt64, mil.DType(0)} {
		require.False(t, element.Store(d, e, 1), d)
	}
	for _, d := range []mil.DType{mil.String, mil.DType(0)} {
		require.True(t, math.IsNaN(element.Load(d, e)), d)
	}
	require.Equal(t, 1.5, element.Load(mil.BF16, []byte{0xc0, 0x3f}))
	require.Equal(t, -2.0, element.Load(mil.Int64, binary.LittleEndian.AppendUint64(nil, ^uint64(1))))
	require.Equal(t, 0x1p63, element.Load(mil.UInt64, binary.LittleEndian.AppendUint64(nil, 1<<63)))
	require.Equal(t, 1.0, element.Load(mil.Bool, []byte{7}))
	nan := []byte{0, 0x7e}
	require.True(t, math.IsNaN(element.Load(mil.FP16, nan)))
}

// Packed integers start at the low bits, and continue in the next byte.
func TestUnpack(t *testing.T) {
	for _, c := range []struct {
		d      mil.DType
		packed []byte
		want   []int8
	}{
		{mil.UInt1, []byte{0b10110010, 1}, []int8{0, 1, 0, 0, 1, 1, 0, 1, 1}},
		{mil.UInt2, []byte{0b11100100}, []int8{0, 1, 2, 3}},
		{mil.Int2, []byte{0b11100100}, []int8{0, 1, -2, -1}},
		{mil.UInt3, []byte{0b10_001_111, 0b110_101}, []int8{7, 1, 6, 2, 3}},
		{mil.Int4, []byte{0x8f, 0x07}, []int8{-1, -8, 7}},
		{mil.UInt4, []byte{0x8f, 0x07}, []int8{15, 8, 7}},
		{mil.UInt6, []byte{0b01_111110, 0b0011_1000, 0b000001}, []int8{62, 33, 19}},
	} {
		got := element.Unpack(c.d, c.packed, len(c.want))
		want := make([]byte, len(c.want))
		for i, n := range c.want {
			want[i] = byte(n)
			require.Equal(t, float64(n), element.Load(c.d, got[i:]))
		}
		require.Equal(t, want, got, "%v", c.d)
	}
}
