package npy

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReadRefuses(t *testing.T) {
	f4 := dict("<f4", "False", "(1,)")
	types := []struct{ descr, what, fix string }{
		{"|f4", "no byte order", "arr.astype('<f4')"},
		{"<c8", "complex", "arr.real"},
		{">c16", "complex", "arr.real"},
		{"<U3", "text", "astype"},
		{"|S5", "text", "astype"},
		{"|O", "Python objects", "astype"},
		{"|V8", "structured", "arr['name']"},
		{"<M8[ns]", "date", "astype"},
		{"<u8", "not supported", "arr.astype('<i8')"},
		{"<f16", "not supported", "astype"},
		{"f4", "not supported", "astype"},
		{"!f4", "unknown byte order", "astype"},
		{"", "is empty", "NumPy"},
		{"<", "not supported", "astype"},
	}
	for _, c := range types {
		t.Run("type "+c.descr, func(t *testing.T) {
			refused(t, file(1, dict(c.descr, "False", "(1,)"), "abcd"), 20, c.what, c.fix)
		})
	}
	cases := []struct {
		name   string
		file   []byte
		offset int64
		what   string
	}{
		{"nothing", nil, 0, "the file is empty"},
		{"half a magic", []byte("\x93NUM"), 4, "ends within the magic"},
		{"archive", []byte("PK\x03\x04 a zip archive"), 0, "this is a .npz archive"},
		{"empty archive", []byte("PK\x05\x06"), 0, "this is a .npz archive"},
		{"pickle", []byte("\x80\x04\x95 a pickle"), 0, "this is a Python pickle"},
		{"gzip", []byte("\x1f\x8b\x08 compressed"), 0, "compressed with gzip"},
		{"text", []byte("1 2 3"), 0, "this is text"},
		{"other file", []byte("\x00\x01\x02 whatever"), 0, "does not begin with"},
		{"version 0", file(0, f4, "abcd"), 6, "version 0.0"},
		{"version 4", file(4, f4, "abcd"), 6, "version 4.0"},
		{"version 1.1", []byte("\x93NUMPY\x01\x01"), 6, "version 1.1"},
		{"no length", []byte("\x93NUMPY\x01\x00\x10"), 9, "ends within the length"},
		{"half a length", []byte("\x93NUMPY\x02\x00\x10\x00\x00"), 11, "ends within the length"},
		{"length too great", []byte("\x93NUMPY\x01\x00\xff\xff{}"), 12, "ends within a header of 65535 bytes"},
		{"length absurd", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), 8, "claims 4294967295 bytes"},
		{"length too small", append([]byte("\x93NUMPY\x01\x00\x10\x00"), f4...), 26, "found the end"},
		{"length zero", []byte("\x93NUMPY\x01\x00\x00\x00abcd"), 10, "found the end"},
		{"data short", file(1, f4, "abc"), 71, "ends within 4 bytes of data ([1] of float32)"},
		{"no data", file(1, f4, ""), 68, "ends within 4 bytes of data"},
		{"data long", file(1, f4, "abcde"), 72, "continues after the array"},
		{"empty with data", file(1, dict("<f4", "False", "(0,)"), "a"), 68, "continues after the array"},
		{"not a dictionary", file(1, "[1, 2]", ""), 10, "to open the dictionary"},
		{"not closed", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "abcd"), 64,
			"to close the dictionary"},
		{"text after", file(1, strings.TrimSpace(f4)+" x", "abcd"), 68, "text after the dictionary"},
		{"NUL after", file(1, strings.TrimSpace(f4)+"\x00", "abcd"), 67, "text after the dictionary"},
		{"no colon", file(1, "{'descr' '<f4'}", ""), 19, "after the key"},
		{"no comma", file(1, "{'descr': '<f4' 'shape': ()}", ""), 26, "to close the dictionary"},
		{"two commas", file(1, "{'descr': '<f4',, 'shape': ()}", ""), 26, "a key in quotes"},
		{"key missing", file(1, "{'descr': '<f4', 'shape': ()}", "abcd"), 39, `"fortran_order" is missing`},
		{"empty dictionary", file(1, "{}", ""), 12, `"descr" is missing`},
		{"key twice", file(1, "{'shape': (), 'shape': ()}", ""), 24, "comes twice"},
		{"key unknown", file(1, "{'shapes': ()}", ""), 11, "unknown"},
		{"key no text", file(1, "{1: 2}", ""), 11, "a key in quotes"},
		{"quote open", file(1, "{'descr", ""), 11, "not closed"},
		{"escape", file(1, `{'d\x65scr': '<f4'}`, ""), 11, "backslash"},
		{"code", file(1, "{'shape': __import__('os')}", ""), 20, "before the shape"},
		{"order no bool", file(1, "{'fortran_order': 0}", ""), 28, "True or False"},
		{"order lower case", file(1, "{'fortran_order': true}", ""), 28, "True or False"},
		{"descr no text", file(1, "{'descr': 4}", ""), 20, "descr in quotes"},
		{"structured", file(1, "{'descr': [('a', '<f4')], ", ""), 20, "structured"},
		{"subarray", file(1, "{'descr': ('<f4', (2,)), ", ""), 20, "structured"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { refused(t, c.file, c.offset, c.what, "") })
	}
	shapes := []struct{ shape, what string }{
		{"3", "before the shape"},
		{"[3]", "before the shape"},
		{"(3)", "a number, not the tuple (3,)"},
		{"(,)", "expected a dimension"},
		{"(1,,2)", "expected a dimension"},
		{"(1 2)", "after the shape"},
		{"(-1,)", "negative dimension -1"},
		{"(2, -3)", "negative dimension -3"},
		{"(+1,)", "not a plain decimal number"},
		{"(-0,)", "not a plain decimal number"},
		{"(01,)", "not a plain decimal number"},
		{"(1_0,)", "not a plain decimal number"},
		{"(0x1,)", "not a plain decimal number"},
		{"(1.0,)", "not a plain decimal number"},
		{"(1e0,)", "not a plain decimal number"},
		{"(True,)", "not a plain decimal number"},
		{"(None,)", "not a plain decimal number"},
		{"(L,)", "not a plain decimal number"},
		{"(1LL,)", "not a plain decimal number"},
		{"(99999999999999999999,)", "too large"},
		{"(9223372036854775807,)", "larger than memory"},
		{"(4294967296, 4294967296)", "larger than memory"},
		{"(0, 4294967296, 4294967296)", "larger than memory"},
		{"(4294967296, 4294967296, 0)", "larger than memory"},
		{"(1,", "found the end"},
	}
	for _, c := range shapes {
		t.Run("shape "+c.shape, func(t *testing.T) {
			text := dict("<f4", "False", c.shape)
			if strings.HasSuffix(c.shape, ",") {
				text = text[:len(text)-len(", }\n")]
			}
			refused(t, file(2, text, "abcd"), -1, c.what, "")
		})
	}
	t.Run("long integer in version 3", func(t *testing.T) {
		refused(t, file(3, dict("<f4", "False", "(1L,)"), "abcd"), -1, "not a plain decimal number", "")
	})
}

// refused reads a file that Read has to reject. It does not compare an offset of -1.
func refused(t *testing.T, file []byte, offset int64, what, fix string) {
	t.Helper()
	a, err := Read(bytes.NewReader(file), 0)
	require.Nil(t, a)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Fix)
	require.NotContains(t, err.Error(), "\n")
	require.ErrorContains(t, err, what)
	require.Contains(t, e.Fix, fix)
	if offset >= 0 {
		require.Equal(t, offset, e.Offset, "%v", err)
	}
}

// TestEveryCut reads every proper prefix of a file. Read reports each as incomplete.
func TestEveryCut(t *testing.T) {
	whole := golden[0].want
	for n := 1; n < len(whole); n++ {
		_, err := Read(strings.NewReader(whole[:n]), 0)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, n, e.Offset)
	}
}

func TestReaderFault(t *testing.T) {
	broken := errors.New("the disk is broken")
	whole := golden[0].want
	for n := range len(whole) + 1 {
		_, err := Read(io.MultiReader(strings.NewReader(whole[:n]), iotest.ErrReader(broken)), 0)
		require.ErrorIs(t, err, broken, "after %d bytes", n)
	}
}

func TestLimit(t *testing.T) {
	whole := golden[0].want
	_, err := Read(strings.NewReader(whole), int64(len(whole)))
	require.NoError(t, err)
	_, err = Read(strings.NewReader(whole), int64(len(whole))-1)
	require.ErrorContains(t, err, "more than the limit of 135")
	_, err = Read(strings.NewReader(whole), 1)
	require.ErrorContains(t, err, "more than the limit of 1")
}

// A header that declares 2^40 bytes does not make Read allocate them.
func TestReadAllocatesNoDeclaredSize(t *testing.T) {
	lie := file(1, dict("<f4", "False", "(262144, 1048576)"), "abcd")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(bytes.NewReader(lie), 0)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*firstChunk))
}

// TestGrows reads more than the first chunk from a stream of unknown length.
func TestGrows(t *testing.T) {
	a := &Array{Kind: UInt8, Shape: []int{5*firstChunk + 3}, Data: make([]byte, 5*firstChunk+3)}
	for i := range a.Data {
		a.Data[i] = byte(i * 7 >> 3)
	}
	var b bytes.Buffer
	require.NoError(t, Write(&b, a))
	got, err := Read(iotest.HalfReader(&b), 0)
	require.NoError(t, err)
	require.True(t, bytes.Equal(a.Data, got.Data))
}
