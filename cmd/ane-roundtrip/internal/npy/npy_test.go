package npy

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// file builds a .npy file without padding.
func file(version byte, dict string, data string) []byte {
	out := []byte("\x93NUMPY")
	out = append(out, version, 0, byte(len(dict)), byte(len(dict)>>8))
	if version > 1 {
		out = append(out, byte(len(dict)>>16), byte(len(dict)>>24))
	}
	return append(append(out, dict...), data...)
}

func dict(descr, order, shape string) string {
	return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n"
}

// golden files are written out by the rules of NumPy: the dictionary, room for a first dimension
// (Fortran: last) of 21 digits, spaces and a line feed up to a multiple of 64.
var golden = []struct {
	name string
	a    Array
	want string
}{
	{
		"half NCHW", Array{Type: mil.FP16, Shape: []int{1, 2, 1, 2}, Data: []byte("abcdefgh")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 1, 2), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 32) + "\nabcdefgh",
	},
	{
		"one dimension", Array{Type: mil.FP32, Shape: []int{3}, Data: []byte("abcdefghijkl")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 40) + "\nabcdefghijkl",
	},
	{
		"scalar", Array{Type: mil.Int64, Shape: []int{}, Data: []byte("abcdefgh")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (), }" +
			strings.Repeat(" ", 62) + "\nabcdefgh",
	},
	{
		"bytes without order, empty", Array{Type: mil.Bool, Shape: []int{4, 0}, Data: []byte{}},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '|b1', 'fortran_order': False, 'shape': (4, 0), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 38) + "\n",
	},
	{
		// 10 bytes of lead, 97 of dictionary, 20 of room and a line feed make
		// 128; NumPy then adds another 64 spaces.
		"aligned without padding", Array{Type: mil.Int8, Shape: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 123},
			Data: bytes.Repeat([]byte("a"), 123)},
		"\x93NUMPY\x01\x00\xb6\x00{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, " +
			"1, 1, 1, 123), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 64) + "\n" + strings.Repeat("a", 123),
	},
}

func TestGolden(t *testing.T) {
	for _, c := range golden {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, Write(&b, &c.a))
			require.Equal(t, c.want, b.String())
			require.Zero(t, (b.Len()-len(c.a.Data))%64)
			for _, r := range []io.Reader{
				strings.NewReader(c.want), iotest.OneByteReader(strings.NewReader(c.want)),
				iotest.DataErrReader(strings.NewReader(c.want)),
			} {
				got, err := read(r, int64(len(c.want)), nil)
				require.NoError(t, err)
				require.Equal(t, &c.a, got)
			}
		})
	}
}

func TestReadForms(t *testing.T) {
	cases := []struct {
		name string
		file []byte
		want Array
	}{
		{"version 1", file(1, dict("<f4", "False", "(1,)"), "abcd"), Array{Type: mil.FP32, Shape: []int{1}}},
		{"version 2", file(2, dict("<f4", "False", "(1,)"), "abcd"), Array{Type: mil.FP32, Shape: []int{1}}},
		{"version 3", file(3, dict("<f4", "False", "(1,)"), "abcd"), Array{Type: mil.FP32, Shape: []int{1}}},
		{"native order", file(1, dict("=i4", "False", "(1,)"), "abcd"), Array{Type: mil.Int32, Shape: []int{1}}},
		{"order of one byte", file(1, dict(">u1", "True", "(2, 2)"), "acbd"), Array{Type: mil.UInt8, Shape: []int{2, 2},
			Fortran: true}},
		{"scalar", file(1, dict("<u4", "False", "()"), "abcd"), Array{Type: mil.UInt32, Shape: []int{}}},
		{"trailing comma", file(1, dict("<i2", "False", "(2, 1, )"), "abcd"), Array{Type: mil.Int16, Shape: []int{2, 1}}},
		{"Python 2 integers", file(1, dict("|i1", "False", "(4L, 1L)"), "abcd"), Array{Type: mil.Int8, Shape: []int{4, 1}}},
		{"other order and spacing", file(1, "  {\n\"shape\" :(  4,),'fortran_order':False\t,'descr':\"|b1\"}", "abcd"),
			Array{Type: mil.Bool, Shape: []int{4}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Data = []byte("abcd")
			got, err := read(bytes.NewReader(c.file), 0, nil)
			require.NoError(t, err)
			require.Equal(t, &c.want, got)
		})
	}
}

func TestTypes(t *testing.T) {
	for d := range codes {
		a := &Array{Type: d, Shape: []int{3}, Data: make([]byte, 3*d.Size())}
		var b bytes.Buffer
		require.NoError(t, Write(&b, a), d)
		got, err := read(&b, 0, nil)
		require.NoError(t, err, d)
		require.Equal(t, a, got)
	}
	require.Equal(t, "float16", Name(mil.FP16))
	require.Equal(t, "uint8", Name(mil.UInt8))
}

func TestWriteRefuses(t *testing.T) {
	cases := []struct {
		name string
		a    *Array
		want string
	}{
		{"no type", &Array{Shape: []int{1}, Data: []byte{1}}, "1 bytes as invalid of shape [1]"},
		{"other type", &Array{Type: mil.BF16, Shape: []int{1}, Data: []byte{1, 2}}, "2 bytes as bfloat16 of shape [1]"},
		{"short", &Array{Type: mil.Int16, Shape: []int{2}, Data: []byte{1}}, "1 bytes as int16 of shape [2]"},
		{"long", &Array{Type: mil.Int16, Shape: []int{0}, Data: []byte{1}}, "1 bytes as int16 of shape [0]"},
		{"many dimensions", &Array{Type: mil.Int8, Shape: make([]int, maxDimensions+1)}, "[0 0 0"},
		{"negative", &Array{Type: mil.Int16, Shape: []int{2, -1}}, "[2 -1] do not fit a .npy file"},
		{"overflow", &Array{Type: mil.Int16, Shape: []int{math.MaxInt / 4, 5}}, "do not fit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, c.a)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, c.want)
			require.NotEmpty(t, e.Fix)
			require.Zero(t, b.Len())
		})
	}
}

// meanWriter accepts room bytes, then fails, or returns a short count without an error.
type meanWriter struct {
	room int
	err  error
}

func (w *meanWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.room)
	w.room -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}

func TestWriteFaults(t *testing.T) {
	full := errors.New("device is full")
	for _, room := range []int{0, 50, 128, 130} {
		a := &golden[0].a
		require.ErrorIs(t, Write(&meanWriter{room, full}, a), full)
		require.ErrorIs(t, Write(&meanWriter{room, nil}, a), io.ErrShortWrite)
	}
	require.NoError(t, Write(&meanWriter{136, full}, &golden[0].a))
}
