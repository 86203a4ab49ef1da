package element_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
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
	} {
		e := []byte{0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5}
		require.True(t, element.Store(c.d, e, c.v))
		n := c.d.Size()
		require.Equal(t, c.bytes, e[:n], "%s %v", c.d, c.v)
		require.Equal(t, byte(0xA5), e[n], "%s wrote after its element", c.d)
		require.Equal(t, c.back, element.Load(c.d, e), "%s %v", c.d, c.v)
	}
}

func TestOtherTypes(t *testing.T) {
	e := make([]byte, 8)
	for _, d := range []mil.DType{mil.BF16, mil.Int4, mil.UInt1, mil.String, mil.Int64, mil.UInt64, mil.DType(0)} {
		require.False(t, element.Store(d, e, 1), d)
	}
	for _, d := range []mil.DType{mil.Int4, mil.UInt1, mil.String, mil.DType(0)} {
		require.True(t, math.IsNaN(element.Load(d, e)), d)
	}
	require.Equal(t, 1.5, element.Load(mil.BF16, []byte{0xc0, 0x3f}))
	require.Equal(t, -2.0, element.Load(mil.Int64, binary.LittleEndian.AppendUint64(nil, ^uint64(1))))
	require.Equal(t, 0x1p63, element.Load(mil.UInt64, binary.LittleEndian.AppendUint64(nil, 1<<63)))
	require.Equal(t, 1.0, element.Load(mil.Bool, []byte{7}))
	nan := []byte{0, 0x7e}
	require.True(t, math.IsNaN(element.Load(mil.FP16, nan)))
}
