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

	"github.com/anekit/anekit/ane/mil"
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
		{"", "not supported", "astype"},
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
		{"gzip", []byte("\x1f\x8b\x08 compressed"), 0, "this is a gzip file, not a .npy file; unpack it"},
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
		{"not a dictionary", file(1, "[1, 2]", ""), 10, `found "[1, 2]"`},
		{"not closed", file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "abcd"), 51,
			`found "'shape': (1,)"`},
		{"text after", file(1, strings.TrimSpace(f4)+" x", "abcd"), 68, `found "x"`},
		{"NUL after", file(1, strings.TrimSpace(f4)+"\x00", "abcd"), 67, `found "\x00"`},
		{"no colon", file(1, "{'descr' '<f4'}", ""), 11, `found "'descr' '<f4'}"`},
		{"no comma", file(1, "{'descr': '<f4' 'shape': ()}", ""), 11, `found "'descr': '<f4' 'shape'`},
		{"two commas", file(1, "{'descr': '<f4',, 'shape': ()}", ""), 26, `found ", 'shape': ()}"`},
		{"key missing", file(1, "{'descr': '<f4', 'shape': ()}", "abcd"), 39, "found the end"},
		{"empty dictionary", file(1, "{}", ""), 11, `found "}"`},
		{"key twice", file(1, "{'shape': (), 'shape': ()}", ""), 24, "each once"},
		{"key unknown", file(1, "{'shapes': ()}", ""), 11, `found "'shapes': ()}"`},
		{"key no text", file(1, "{1: 2}", ""), 11, `found "1: 2}"`},
		{"quote open", file(1, "{'descr", ""), 11, `found "'descr"`},
		{"escape", file(1, `{'d\x65scr': '<f4'}`, ""), 11, "found"},
		{"escape in the type", file(1, `{'descr': '<\x664', `, ""), 11, "found"},
		{"code", file(1, "{'shape': __import__('os')}", ""), 11, `found "'shape': __import__('os')}"`},
		{"order no bool", file(1, "{'fortran_order': 0}", ""), 11, `found "'fortran_order': 0}"`},
		{"order lower case", file(1, "{'fortran_order': true}", ""), 11, `found "'fortran_order': true}"`},
		{"order longer", file(1, "{'fortran_order': Trueish}", ""), 11, "found"},
		{"descr no text", file(1, "{'descr': 4}", ""), 11, `found "'descr': 4}"`},
		{"structured", file(1, "{'descr': [('a', '<f4')], ", ""), 20, "structured"},
		{"subarray", file(1, "{'descr': ('<f4', (2,)), ", ""), 20, "structured"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { refused(t, c.file, c.offset, c.what, "") })
	}
	for _, shape := range []string{"3", "[3]", "(3)", "(,)", "(1,,2)", "(1 2)", "(-1,)", "(2, -3)", "(+1,)", "(-0,)",
		"(01,)", "(1_0,)", "(0x1,)", "(1.0,)", "(1e0,)", "(True,)", "(None,)", "(L,)", "(1LL,)", "(1,"} {
		t.Run("shape "+shape, func(t *testing.T) {
			refused(t, file(2, dict("<f4", "False", shape), "abcd"), 53, "found \"'shape': "+shape, "")
		})
	}
	large := []struct{ shape, what string }{
		{"(99999999999999999999,)", "the dimension 99999999999999999999 of the shape is too large"},
		{"(9223372036854775807,)", "more than 4294967296 bytes"},
		{"(4294967296, 4294967296)", "more than 4294967296 bytes"},
		{"(0, 4294967296, 4294967296)", "more than 4294967296 bytes"},
		{"(4294967296, 4294967296, 0)", "more than 4294967296 bytes"},
		{"(1073741825,)", "more than 4294967296 bytes"},
		{"(" + strings.Repeat("1, ", maxDimensions+1) + ")", "65 dimensions, more than 64"},
	}
	for _, c := range large {
		t.Run("shape "+c.shape, func(t *testing.T) {
			refused(t, file(2, dict("<f4", "False", c.shape), "abcd"), -1, c.what, "")
		})
	}
}

// refused reads a file that Read has to reject. It does not compare an offset of -1.
func refused(t *testing.T, file []byte, offset int64, what, fix string) {
	t.Helper()
	a, err := read(bytes.NewReader(file), 0, nil)
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
		_, err := read(strings.NewReader(whole[:n]), 0, nil)
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
		_, err := read(io.MultiReader(strings.NewReader(whole[:n]), iotest.ErrReader(broken)), 0, nil)
		require.ErrorIs(t, err, broken, "after %d bytes", n)
	}
}

// A header that declares 2 GiB does not make read allocate them.
func TestReadAllocatesNoDeclaredSize(t *testing.T) {
	lie := file(1, dict("<f4", "False", "(262144, 2048)"), "abcd")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(bytes.NewReader(lie), firstChunk, nil)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*firstChunk))
}

// large returns an array of several chunks.
func large() *Array {
	a := &Array{Type: mil.UInt8, Shape: []int{5*firstChunk + 3}, Data: make([]byte, 5*firstChunk+3)}
	for i := range a.Data {
		a.Data[i] = byte(i * 7 >> 3)
	}
	return a
}

// TestGrows reads more than the first chunk from a stream of unknown length.
func TestGrows(t *testing.T) {
	a := large()
	var b bytes.Buffer
	require.NoError(t, Write(&b, a))
	got, err := read(iotest.HalfReader(&b), firstChunk, nil)
	require.NoError(t, err)
	require.True(t, bytes.Equal(a.Data, got.Data))
}
