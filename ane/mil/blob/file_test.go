package blob

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// three is a file with an fp16, an int4 and an int32 entry.
func three(t testing.TB) (data []byte, offsets []uint64) {
	t.Helper()
	var w Writer
	for _, e := range []struct {
		d      mil.DType
		data   []byte
		unused int
	}{
		{mil.FP16, []byte{1, 2, 3, 4, 5, 6}, 0},
		{mil.Int4, []byte{0x21, 0x03}, 4},
		{mil.Int32, bytes.Repeat([]byte{9, 0, 0, 0}, 16), 0},
	} {
		at, err := w.Add(e.d, e.data, e.unused)
		require.NoError(t, err)
		offsets = append(offsets, at)
	}
	return w.Bytes(), offsets
}

func open(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := NewReader(bytes.NewReader(data), int64(len(data)), "w.bin")
	require.NoError(t, err)
	return f
}

func TestRoundTrip(t *testing.T) {
	data, offsets := three(t)
	require.Equal(t, []uint64{64, 192, 320}, offsets)
	require.Len(t, data, 320+64+64)
	f := open(t, data)
	entries, err := f.Entries()
	require.NoError(t, err)
	require.Equal(t, []Entry{
		{Offset: 64, Tag: 1, DataOffset: 128, Size: 6},
		{Offset: 192, Tag: 8, DataOffset: 256, Size: 2, UnusedBits: 4},
		{Offset: 320, Tag: 14, DataOffset: 384, Size: 64},
	}, entries)
	for i, want := range []struct {
		typ  mil.Type
		data []byte
	}{
		{mil.TensorOf(mil.FP16, 3), []byte{1, 2, 3, 4, 5, 6}},
		{mil.TensorOf(mil.Int4, 3, 1), []byte{0x21, 0x03}},
		{mil.TensorOf(mil.Int32, 4, 4), bytes.Repeat([]byte{9, 0, 0, 0}, 16)},
	} {
		got, err := f.Tensor(offsets[i], want.typ)
		require.NoError(t, err)
		require.Equal(t, want.data, got)
		got, err = f.Data(entries[i])
		require.NoError(t, err)
		require.Equal(t, want.data, got)
	}
	require.Empty(t, f.Warnings())
}

// TestLayout compares a file with its bytes written by hand.
func TestLayout(t *testing.T) {
	want := make([]byte, 132)
	copy(want, []byte{1, 0, 0, 0, 2, 0, 0, 0})
	copy(want[64:], []byte{0xEF, 0xBE, 0xAD, 0xDE, 1, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 128})
	copy(want[128:], []byte{0x00, 0x3C, 0x00, 0xC0})

	var w Writer
	_, err := w.Add(mil.FP16, want[128:], 0)
	require.NoError(t, err)
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, 132, n)
	require.Equal(t, want, b.Bytes())
	require.Equal(t, want, w.Bytes())
	require.EqualValues(t, 132, w.Size())
}

func TestOffsets(t *testing.T) {
	data, _ := three(t)
	f := open(t, data)
	for offset, want := range map[uint64]string{
		0:       "w.bin: byte 0: offset 0 is the header of the file; give the offset of an entry; the first is at 64",
		8:       "offset 8 lies in the header of the file",
		63:      "offset 63 lies in the header",
		65:      "no entry starts at offset 65",
		128:     "w.bin: byte 128: offset 128 points at the payload; give the offset of its entry, 64",
		256:     "offset 256 points at the payload; give the offset of its entry, 192",
		384:     "offset 384 points at the payload; give the offset of its entry, 320",
		440:     "no room for an entry at offset 440 in a file of 448 bytes",
		448:     "no room for an entry at offset 448",
		449:     "offset 449 is beyond the end of the file, which has 448 bytes",
		1 << 63: "is beyond the end of the file",
	} {
		_, err := f.Entry(offset)
		require.ErrorIs(t, err, ErrOffset, offset)
		require.ErrorContains(t, err, want)
		_, err = f.Tensor(offset, mil.TensorOf(mil.FP16, 3))
		require.ErrorIs(t, err, ErrOffset, offset)
	}
	// Also an offset of a payload that is too short for metadata.
	small := open(t, data[:134])
	_, err := small.Entry(128)
	require.ErrorContains(t, err, "points at the payload; give the offset of its entry, 64")
}

// put32 and put64 change a copy of data.
func put32(data []byte, at int, v uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[at:], v)
	return data
}

func put64(data []byte, at int, v uint64) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint64(data[at:], v)
	return data
}

func TestHeader(t *testing.T) {
	data, _ := three(t)
	for _, c := range []struct {
		name string
		data []byte
		is   error
		want string
	}{
		{"empty", nil, ErrFormat, "not a weight file: it is empty; get the file again"},
		{"short", data[:63], ErrFormat, "63 bytes are too few"},
		{"old", put32(data, 4, 1), ErrVersion, "version 1 of the format is not supported"},
		{"other", put32(data, 4, 0x46554747), ErrFormat, "its header does not say version 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewReader(bytes.NewReader(c.data), int64(len(c.data)), "w.bin")
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := NewReader(bytes.NewReader(nil), -1, "w.bin")
	require.ErrorIs(t, err, ErrFormat)
	_, err = NewReader(bytes.NewReader(nil), 1<<40, "w.bin")
	require.ErrorIs(t, err, ErrBounds, "the reader has fewer bytes than size")
}

func TestMetadata(t *testing.T) {
	data, _ := three(t)
	for _, c := range []struct {
		name string
		data []byte
		is   error
		at   int64
	}{
		{"tag 0", put32(data, 68, 0), ErrEntry, 68},
		{"tag 18", put32(data, 68, 18), ErrEntry, 68},
		{"size one too large", put64(data, 72, 321), ErrBounds, 72},
		{"size 2^63", put64(data, 72, 1<<63), ErrBounds, 72},
		{"size that wraps", put64(data, 72, ^uint64(0)-100), ErrBounds, 72},
		{"payload in the header", put64(data, 80, 32), ErrEntry, 80},
		{"payload in its metadata", put64(data, 80, 127), ErrEntry, 80},
		{"payload after the end", put64(data, 80, 449), ErrBounds, 72},
		{"payload at 2^64-1", put64(data, 80, ^uint64(0)), ErrBounds, 72},
		{"cut", data[:131], ErrBounds, 72},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.data)
			_, err := f.Entry(64)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, c.is)
			require.Equal(t, c.at, e.Offset)
			require.Equal(t, "w.bin", e.File)
		})
	}
	f := open(t, put64(data, 192+24, 8))
	_, err := f.Entry(192)
	require.ErrorIs(t, err, ErrEntry)
}

func TestCount(t *testing.T) {
	data, _ := three(t)
	for count, want := range map[uint32]int{0: 0, 1: 1, 2: 2, 3: 3} {
		list, err := open(t, put32(data, 0, count)).Entries()
		require.NoError(t, err)
		require.Len(t, list, want)
	}
	for _, count := range []uint32{4, 1 << 31, ^uint32(0)} {
		list, err := open(t, put32(data, 0, count)).Entries()
		require.ErrorIs(t, err, ErrCount)
		require.Len(t, list, 3)
	}
}

func TestWarnings(t *testing.T) {
	data, _ := three(t)
	i8 := put32(data[:131], 72, 3)
	unaligned := make([]byte, 0, 300)
	unaligned = append(unaligned, data[:134]...)
	second := bytes.Clone(data[192:258])
	binary.LittleEndian.PutUint64(second[16:], 134+64)
	unaligned = put32(append(unaligned, second...), 0, 2)
	for _, c := range []struct {
		name   string
		data   []byte
		offset uint64
		typ    mil.Type
		want   string
	}{
		{"header", put32(data, 8, 1), 64, mil.TensorOf(mil.FP16, 3), "byte 8: the header has more"},
		{"no count", put32(data, 0, 0), 64, mil.TensorOf(mil.FP16, 3), "byte 0: the header says 0 entries"},
		{"payload offset 0", put64(data, 80, 0), 64, mil.TensorOf(mil.FP16, 3),
			"byte 80: the payload offset is 0; 128 is used"},
		{"gap", put64(data, 80, 132), 64, mil.TensorOf(mil.FP16, 3), "byte 80: the payload starts at 132"},
		{"garbage", put64(data, 96, 7), 64, mil.TensorOf(mil.FP16, 3), "byte 96: the metadata does not end with zeros"},
		{"unused bits of fp16", put64(data, 88, 99), 64, mil.TensorOf(mil.FP16, 3), "byte 88: 99 unused bits for fp16"},
		{"unused bits missing", put64(data, 216, 0), 192, mil.TensorOf(mil.Int4, 3),
			"byte 216: 0 unused bits, tensor<int4, [3]> leaves 4"},
		{"int8 tagged fp16", i8, 64, mil.TensorOf(mil.Int8, 3), "byte 68: int8 is tagged fp16"},
		{"int4 tagged uint4", put32(data, 196, 11), 192, mil.TensorOf(mil.Int4, 3), "byte 196: int4 is tagged uint4"},
		{"unaligned", unaligned, 134, mil.TensorOf(mil.Int4, 3), "byte 134: the entry is not at a multiple of 64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.data)
			for range 2 { // each warning once
				_, err := f.Tensor(c.offset, c.typ)
				require.NoError(t, err)
			}
			w := f.Warnings()
			require.Len(t, w, 1)
			require.Contains(t, w[0], c.want)
		})
	}
	list, err := open(t, unaligned).Entries()
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.EqualValues(t, 134, list[1].Offset)
}

func TestTensorFaults(t *testing.T) {
	data, _ := three(t)
	f := open(t, data)
	for _, c := range []struct {
		offset uint64
		typ    mil.Type
		is     error
		want   string
	}{
		{64, mil.TensorOf(mil.FP16, 4), ErrSize, "the payload has 6 bytes, tensor<fp16, [4]> needs 8"},
		{64, mil.TensorOf(mil.FP16, 2), ErrSize, "needs 4"},
		{64, mil.TensorOf(mil.BF16, 3), ErrType, "the entry holds fp16, the program declares tensor<bf16, [3]>"},
		{64, mil.TensorOf(mil.UInt8, 6), ErrType, "the entry holds fp16"},
		{192, mil.TensorOf(mil.Int8, 2), ErrType, "the entry holds int4"},
		{192, mil.TensorOf(mil.Int4, 5), ErrSize, "needs 3"},
		{64, mil.TensorOf(mil.Bool, 6), ErrType, "cannot hold tensor<bool, [6]>"},
		{64, mil.TensorOf(mil.String, 1), ErrType, "cannot hold"},
		{64, mil.TensorOf(mil.NoType, 1), ErrType, "cannot hold"},
		{64, mil.Type{Kind: mil.Tensor, DType: mil.FP16, Dims: []mil.Dim{{Symbol: "?"}}}, ErrType, "cannot hold"},
		{64, mil.TensorOf(mil.FP16, 1<<40, 1<<40), ErrType, "cannot hold"},
		{64, mil.TensorOf(mil.FP16, 1<<62), ErrSize, "larger than any file"},
	} {
		_, err := f.Tensor(c.offset, c.typ)
		require.ErrorIs(t, err, c.is, "%v", c.typ)
		require.ErrorContains(t, err, c.want)
	}
	for _, e := range []Entry{
		{DataOffset: 128, Size: 321}, {DataOffset: 449}, {DataOffset: -1, Size: 1}, {DataOffset: 128, Size: -1},
		{DataOffset: 0, Size: 8}, {DataOffset: 1<<63 - 1, Size: 1<<63 - 1},
	} {
		_, err := f.Data(e)
		require.ErrorIs(t, err, ErrBounds, "%+v", e)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.bin")
	data, _ := three(t)
	require.NoError(t, os.WriteFile(path, data, 0o600))

	f, err := Open(path)
	require.NoError(t, err)
	e, err := f.Entry(320)
	require.NoError(t, err)

	require.NoError(t, os.Truncate(path, 400))
	_, err = f.Data(e)
	require.ErrorIs(t, err, ErrBounds)
	require.ErrorContains(t, err, "shorter since it was opened")

	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	_, err = f.Entry(64)
	require.ErrorIs(t, err, ErrClosed)
	_, err = f.Data(e)
	require.ErrorIs(t, err, ErrClosed)

	_, err = Open(dir)
	require.ErrorIs(t, err, ErrFormat)
	_, err = Open(filepath.Join(dir, "none.bin"))
	require.ErrorIs(t, err, os.ErrNotExist)
	var be *Error
	require.ErrorAs(t, err, &be)
}

// failing always fails to read.
type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }

func TestReadFault(t *testing.T) {
	_, err := NewReader(failing{}, 1000, "w.bin")
	require.ErrorIs(t, err, io.ErrNoProgress)
}
