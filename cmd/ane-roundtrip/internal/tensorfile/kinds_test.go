package tensorfile

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/element"
)

func layout(t *testing.T, d mil.DType, shape ...int) ane.Layout {
	t.Helper()
	l, err := ane.NewLayout("x", d, shape...)
	require.NoError(t, err)
	return l
}

func TestAcceptFor(t *testing.T) {
	l := layout(t, mil.FP16, 1, 2, 1, 20)
	for _, shape := range [][]int{{1, 2, 1, 20}, {40}, {2, 20}, {1, 1, 2, 20, 1}} {
		require.Nil(t, acceptFor("input", l)(mil.FP32, shape), "%v", shape)
	}
	for what, shape := range map[string][]int{
		"transpose it or":              {20, 2},
		"arr.reshape(1, 2, 1, 20)":     {4, 10},
		"give an array of 40 elements": {41},
		"0 elements of shape [0]":      {0},
		"1 elements of shape []":       {},
	} {
		e := acceptFor("input", l)(mil.FP16, shape)
		require.NotNil(t, e)
		require.Contains(t, e.Error(), what)
	}
	for _, to := range []mil.DType{mil.FP16, mil.FP32} {
		for _, from := range []mil.DType{mil.Int8, mil.Bool, mil.UInt8, mil.UInt32, mil.Int64, mil.FP64, mil.BF16} {
			require.Nil(t, acceptFor("input", layout(t, to, 40))(from, []int{40}), "%v to %v", from, to)
		}
	}
	for _, pair := range [][2]mil.DType{{mil.UInt8, mil.UInt16}, {mil.Int16, mil.Int32}, {mil.Bool, mil.Int8}} {
		require.Nil(t, acceptFor("input", layout(t, pair[1], 3))(pair[0], []int{3}), "%v", pair)
	}
	require.Nil(t, acceptFor("input", layout(t, mil.FP32))(mil.FP16, []int{1}))
	for _, c := range []struct {
		from mil.DType
		to   mil.DType
		when string
	}{
		{mil.FP32, mil.Int32, ", if its numbers are whole and in the range of int32"},
		{mil.Int64, mil.Int32, ", if its numbers are in the range of int32"},
		{mil.UInt32, mil.Int32, ", if its numbers are in the range of int32"},
		{mil.Int8, mil.UInt16, ", if its numbers are in the range of uint16"},
		{mil.Int8, mil.Bool, ", if its numbers are 0 and 1"},
		{mil.FP32, mil.Bool, ", if its numbers are 0 and 1"},
		{mil.BF16, mil.Int32, ", if its numbers are whole and in the range of int32"},
	} {
		require.Equal(t, "save it with arr.astype('"+npy.Name(c.to)+"')"+c.when,
			acceptFor("input", layout(t, c.to, 3))(c.from, []int{3}).Fix)
	}
}

// Integers become floats; the notes count those that the type has to round or does not reach.
func TestElementsOfIntegers(t *testing.T) {
	of := func(d mil.DType, values ...float64) *npy.Array {
		a := &npy.Array{Type: d, Shape: []int{len(values)}, Data: make([]byte, d.Size()*len(values))}
		for i, v := range values {
			element.Store(d, a.Data[d.Size()*i:], v)
		}
		return a
	}
	for _, c := range []struct {
		a     *npy.Array
		to    mil.DType
		want  []float64
		notes []string
	}{
		{of(mil.UInt8, 0, 7, 255), mil.FP16, []float64{0, 7, 255}, []string{"converted uint8 to fp16"}},
		{of(mil.Int16, -32768, 2049, 9), mil.FP16, []float64{-32768, 2048, 9},
			[]string{"converted int16 to fp16", "1 value rounded to fp16, first 2049 at index [1]"}},
		{of(mil.UInt32, 1, 70000), mil.FP16, []float64{1, math.Inf(1)}, []string{"converted uint32 to fp16",
			"1 value beyond the range of fp16 became infinite, first 70000 at index [1]"}},
		{of(mil.Int32, -(1<<24 + 1)), mil.FP32, []float64{-(1 << 24)},
			[]string{"converted int32 to fp32", "1 value rounded to fp32, first -1.67772e+07 at index [0]"}},
		{of(mil.Bool, 1, 0), mil.FP32, []float64{1, 0}, []string{"converted bool to fp32"}},
		{of(mil.UInt8, 200), mil.Int32, []float64{200}, []string{"converted uint8 to int32"}},
	} {
		data, notes := elements(c.a, layout(t, c.to, len(c.want)))
		require.Equal(t, c.notes, notes)
		for i, w := range c.want {
			require.Equal(t, w, element.Load(c.to, data[c.to.Size()*i:]), "%v %d", c.notes, i)
		}
	}
	raw := of(mil.BF16, 0.5)
	raw.Raw = true
	data, notes := elements(raw, layout(t, mil.FP32, 1))
	require.Equal(t, 0.5, element.Load(mil.FP32, data))
	require.Len(t, notes, 2)
	require.Contains(t, notes[0], "as bfloat16")
}

func TestElementsOfOtherFloats(t *testing.T) {
	half := &npy.Array{Type: mil.FP16, Shape: []int{2}, Data: []byte{0, 0x38, 0, 0x7c}}
	data, notes := elements(half, layout(t, mil.FP32, 2))
	require.Equal(t, []string{"converted float16 to fp32"}, notes, "an infinite value stays infinite")
	require.Equal(t, []byte{0, 0, 0, 0x3f, 0, 0, 0x80, 0x7f}, data)
	turned := &npy.Array{Type: mil.FP32, Shape: []int{2, 1}, Swapped: true, Fortran: true,
		Data: []byte{0, 0, 0, 0x3f, 0, 0x50, 0xc3, 0x47}}
	data, notes = elements(turned, layout(t, mil.FP16, 2))
	require.Equal(t, []byte{0, 0x38, 0, 0x7c}, data)
	require.Equal(t, []string{"converted big-endian numbers to little-endian", "read shape [2 1] as [2]",
		"converted float32 to fp16",
		"1 value beyond the range of fp16 became infinite, first 100000 at index [1]"}, notes)
}

// Notes name values that become 0, and an order that changes the elements.
func TestElementsTooSmall(t *testing.T) {
	tiny := &npy.Array{Type: mil.FP32, Shape: []int{2, 2}, Fortran: true, Data: make([]byte, 16)}
	for i, v := range []float64{1, 0, 1e-9, -1e-9} {
		element.Store(mil.FP32, tiny.Data[4*i:], v)
	}
	data, notes := elements(tiny, layout(t, mil.FP16, 2, 2))
	require.Equal(t, []byte{0, 0x3c, 0, 0, 0, 0, 0, 0x80}, data)
	require.Equal(t, []string{"converted Fortran order to C order", "converted float32 to fp16",
		"2 values too small for fp16 became 0, first 1e-09 at index [1 0]"}, notes)
}

func TestExpected(t *testing.T) {
	l := layout(t, mil.FP32, 2, 2)
	bits := func(v ...float32) (b []byte) {
		for _, f := range v {
			u := math.Float32bits(f)
			b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
		}
		return b
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		got, want []byte
		tol       float64
		status    string
	}{
		{bits(1, 2, nan, inf), bits(1, 2, nan, inf), 0, trial.Pass},
		{bits(1, 2, 3, 4), bits(1, 2, 3, 4.5), 0, trial.Fail},
		{bits(1, 2, 3, 100), bits(1, 2, 3, 101), 0.01, trial.Pass},
		{bits(1, 2, 3, 0.01), bits(1, 2, 3, 0), 0.01, trial.Pass},
		{bits(1, 2, 3, nan), bits(1, 2, 3, 4), 1e9, trial.Fail},
		{bits(1, 2, 3, 4), bits(1, 2, 3, nan), 1e9, trial.Fail},
		{bits(1, 2, 3, 4), bits(1, 2, 3, inf), 1e9, trial.Fail},
		{bits(1, 2, 3, -inf), bits(1, 2, 3, inf), math.Inf(1), trial.Fail},
	} {
		check := Expected(l, c.got, c.want, c.tol)
		require.Equal(t, c.status, check.Status, "%+v", check)
		require.Equal(t, "expect/x", check.Name)
		if c.status == trial.Fail {
			require.Contains(t, check.Detail, "x[1 1] is ")
		}
	}
}

// NaN is neither the least nor the largest element; an infinity is, and is counted.
func TestExtentOf(t *testing.T) {
	data := binary.LittleEndian.AppendUint16(nil, 0x4000)   // 2
	for _, half := range []uint16{0xc000, 0x7e00, 0x7c00} { // -2, NaN, infinity
		data = binary.LittleEndian.AppendUint16(data, half)
	}
	require.Equal(t, Extent{Min: -2, Max: trial.Number(math.Inf(1)), NaN: 1}, ExtentOf(mil.FP16, data))
	none := ExtentOf(mil.FP16, nil)
	require.Greater(t, none.Min, none.Max)
}
