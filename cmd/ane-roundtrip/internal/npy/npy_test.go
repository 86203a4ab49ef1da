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
		"half NCHW", Array{Kind: Float16, Shape: []int{1, 2, 1, 2}, Data: []byte("abcdefgh")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2, 1, 2), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 32) + "\nabcdefgh",
	},
	{
		"one dimension", Array{Kind: Float32, Shape: []int{3}, Data: []byte("abcdefghijkl")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 40) + "\nabcdefghijkl",
	},
	{
		"scalar", Array{Kind: Int64, Shape: []int{}, Data: []byte("abcdefgh")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (), }" +
			strings.Repeat(" ", 62) + "\nabcdefgh",
	},
	{
		"Fortran", Array{Kind: UInt16, Shape: []int{1, 12}, Fortran: true, Data: []byte("abcdefghijklmnopqrstuvwx")},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<u2', 'fortran_order': True, 'shape': (1, 12), }" +
			strings.Repeat(" ", 19) + strings.Repeat(" ", 39) + "\nabcdefghijklmnopqrstuvwx",
	},
	{
		"bytes without order, empty", Array{Kind: Bool, Shape: []int{4, 0}, Data: []byte{}},
		"\x93NUMPY\x01\x00\x76\x00{'descr': '|b1', 'fortran_order': False, 'shape': (4, 0), }" +
			strings.Repeat(" ", 20) + strings.Repeat(" ", 38) + "\n",
	},
	{
		// 10 bytes of lead, 97 of dictionary, 20 of room and a line feed make
		// 128; NumPy then adds another 64 spaces.
		"aligned without padding", Array{Kind: Int8, Shape: []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 123},
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
				got, err := Read(r, int64(len(c.want)))
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
		{"version 1", file(1, dict("<f4", "False", "(1,)"), "abcd"), Array{Kind: Float32, Shape: []int{1}}},
		{"version 2", file(2, dict("<f4", "False", "(1,)"), "abcd"), Array{Kind: Float32, Shape: []int{1}}},
		{"version 3", file(3, dict("<f4", "False", "(1,)"), "abcd"), Array{Kind: Float32, Shape: []int{1}}},
		{"native order", file(1, dict("=i4", "False", "(1,)"), "abcd"), Array{Kind: Int32, Shape: []int{1}}},
		{"order of one byte", file(1, dict(">u1", "True", "(2, 2)"), "abcd"), Array{Kind: UInt8, Shape: []int{2, 2},
			Fortran: true}},
		{"scalar", file(1, dict("<u4", "False", "()"), "abcd"), Array{Kind: UInt32, Shape: []int{}}},
		{"trailing comma", file(1, dict("<i2", "False", "(2, 1, )"), "abcd"), Array{Kind: Int16, Shape: []int{2, 1}}},
		{"Python 2 integers", file(1, dict("|i1", "False", "(4L, 1L)"), "abcd"), Array{Kind: Int8, Shape: []int{4, 1}}},
		{"other order and spacing", file(1, "  {\n\"shape\" :(  4,),'fortran_order':False\t,'descr':\"|b1\"}", "abcd"),
			Array{Kind: Bool, Shape: []int{4}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Data = []byte("abcd")
			got, err := Read(bytes.NewReader(c.file), 0)
			require.NoError(t, err)
			require.Equal(t, &c.want, got)
		})
	}
}

func TestKinds(t *testing.T) {
	for k := Float16; k <= Bool; k++ {
		a := &Array{Kind: k, Shape: []int{3}, Data: make([]byte, 3*k.Size())}
		var b bytes.Buffer
		require.NoError(t, Write(&b, a), k)
		got, err := Read(&b, 0)
		require.NoError(t, err, k)
		require.Equal(t, a, got)
	}
	require.Equal(t, "float16", Float16.String())
	require.Equal(t, "Kind(99)", Kind(99).String())
	require.Zero(t, Kind(0).Size())
	require.Zero(t, Kind(-1).Size())
}

// TestLongHeader writes a shape that needs version 2.0.
func TestLongHeader(t *testing.T) {
	a := &Array{Kind: Float16, Shape: make([]int, 30_000), Data: []byte{1, 2}}
	for i := range a.Shape {
		a.Shape[i] = 1
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, a))
	require.Equal(t, "\x93NUMPY\x02\x00", b.String()[:8])
	require.Zero(t, (b.Len()-2)%64)
	got, err := Read(&b, 0)
	require.NoError(t, err)
	require.Equal(t, a, got)

	for len(a.Shape) < maxHeader {
		a.Shape = append(a.Shape, a.Shape...)
	}
	require.ErrorContains(t, Write(io.Discard, a), "does not fit a header")
}

func TestWriteRefuses(t *testing.T) {
	cases := []struct {
		name string
		a    *Array
		want string
	}{
		{"nil", nil, "no array"},
		{"no kind", &Array{Shape: []int{1}, Data: []byte{1}}, "unknown kind 0"},
		{"odd kind", &Array{Kind: 99}, "unknown kind 99"},
		{"short", &Array{Kind: Int16, Shape: []int{2}, Data: []byte{1}},
			"has 1 bytes of data, its shape [2] of int16 takes 4"},
		{"long", &Array{Kind: Int16, Shape: []int{0}, Data: []byte{1}}, "takes 0"},
		{"many dimensions", &Array{Kind: Int8, Shape: make([]int, 20), Data: []byte{1}},
			"[0 0 0 0 0 0 0 0] and 12 more"},
		{"negative", &Array{Kind: Int16, Shape: []int{2, -1}}, "dimension 1 of the shape is -1"},
		{"overflow", &Array{Kind: Int16, Shape: []int{math.MaxInt / 4, 3}}, "larger than memory"},
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
			_, err = c.a.ToC()
			require.ErrorContains(t, err, c.want)
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
