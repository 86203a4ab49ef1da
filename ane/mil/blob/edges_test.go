package blob

import (
	"bytes"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// TestErrorsAboutNoByte checks each error about a call, a path or a whole file.
func TestErrorsAboutNoByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.bin")
	data, _ := three(t)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	ended := open(t, data)
	require.NoError(t, ended.Close())
	beneath, err := os.Open(path)
	require.NoError(t, err)
	orphan, err := NewReader(beneath, int64(len(data)), "w.bin")
	require.NoError(t, err)
	require.NoError(t, beneath.Close())

	var w Writer
	add := func(d mil.DType, size, unused int) error {
		_, err := w.Add(d, make([]byte, size), unused)
		return err
	}
	read := func(s Source, path string) error {
		_, err := s.ReadFile(path)
		return err
	}
	entry := func(f *File) error {
		_, err := f.Entry(First)
		return err
	}
	tree := FS(fstest.MapFS{"weights/w.bin": {}})
	for name, c := range map[string]struct {
		err error
		is  error
	}{
		"a directory is opened":               {second(Open(dir)), ErrFormat},
		"a missing file is opened":            {second(Open(path + "x")), fs.ErrNotExist},
		"a closed file is read":               {entry(ended), ErrClosed},
		"the caller closed the file's reader": {entry(orphan), ErrClosed},
		"an entry of another file is read": {second(open(t, data).Data(Entry{DataOffset: 128, Size: 321})),
			ErrBounds},
		"a path outside of a file system":      {read(tree, ModelPath+"../w.bin"), fs.ErrInvalid},
		"a directory of a file system":         {read(tree, ModelPath+"weights"), ErrFormat},
		"a path without the model's directory": {read(tree, "w.bin"), fs.ErrInvalid},
		"no source":                            {read(Sources{nil}, ModelPath+"w.bin"), fs.ErrNotExist},
		"a file that the program lacks":        {read(Files{}, ModelPath+"w.bin"), fs.ErrNotExist},
		"a file outside of the directory":      {Writers{ModelPath + "../w.bin": &w}.WriteDir(dir), fs.ErrInvalid},
		"a type that no file holds":            {add(mil.Bool, 1, 0), ErrType},
		"an unknown tag":                       {second(w.AddTag(18, []byte{1}, 0)), ErrType},
		"unused bits of whole bytes":           {add(mil.FP16, 2, 4), ErrSize},
		"half an element":                      {add(mil.FP16, 3, 0), ErrSize},
		"a stream without elements":            {second(w.AddStream(mil.TensorOf(mil.FP16, 0), nil)), ErrSize},
	} {
		var e *Error
		require.ErrorAs(t, c.err, &e, name)
		require.ErrorIs(t, c.err, c.is, name)
		require.EqualValues(t, -1, e.Offset, name)
		require.NotContains(t, c.err.Error(), "byte -1", name)
	}
}

// second returns the error of a call with one result.
func second[T any](_ T, err error) error { return err }

// TestErrorsNameTheField compares the offsets of errors with the layout in the
// package comment: the scalar type is at 4 of the metadata, the size at 8.
func TestErrorsNameTheField(t *testing.T) {
	data, _ := three(t)
	f := open(t, data)
	for _, c := range []struct {
		typ  mil.Type
		is   error
		want int64
	}{
		{mil.TensorOf(mil.BF16, 3), ErrType, 64 + 4},
		{mil.TensorOf(mil.FP16, 4), ErrSize, 64 + 8},
		{mil.TensorOf(mil.FP16, 1<<62), ErrSize, 64 + 8},
	} {
		_, err := f.Find(64, c.typ)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, c.is)
		require.Equal(t, c.want, e.Offset, "%v", c.typ)
	}
	cut, err := NewReader(bytes.NewReader(data[:100]), int64(len(data)), "w.bin")
	require.NoError(t, err)
	_, err = cut.Entry(64)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, ErrBounds)
	require.EqualValues(t, 100, e.Offset, "the byte at which the reader ends")
}

// TestTheLargestTensor has as many bits as an int can count, rounded up to bytes.
func TestTheLargestTensor(t *testing.T) {
	largest := mil.TensorOf(mil.FP16, (math.MaxInt-7)/16)
	size, err := Need{Type: largest}.Bytes()
	require.NoError(t, err)
	require.EqualValues(t, (math.MaxInt-7)/16*2, size)
	_, err = Need{Type: mil.TensorOf(mil.FP16, (math.MaxInt-7)/16+1)}.Bytes()
	require.ErrorIs(t, err, ErrSize)

	data, _ := three(t)
	_, err = open(t, data).Find(64, largest)
	require.ErrorContains(t, err, "the payload has 6 bytes")
}

func TestBlankReachesItsLimit(t *testing.T) {
	four := []Need{{Offset: First, Type: mil.TensorOf(mil.FP16, 4)}}
	const size = 64 + 64 + 4*2 // header, metadata, payload
	data, err := Blank("w.bin", size, four)
	require.NoError(t, err)
	require.Len(t, data, size)
	_, err = Blank("w.bin", size-1, four)
	require.ErrorIs(t, err, ErrSize)
}

// TestTheSmallestFile is a header and no entry.
func TestTheSmallestFile(t *testing.T) {
	var w Writer
	list, err := open(t, w.Bytes()).Entries()
	require.NoError(t, err)
	require.Empty(t, list)
}

// TestAnEntryWithoutPayload ends the file with its metadata.
func TestAnEntryWithoutPayload(t *testing.T) {
	data, _ := three(t)
	f := open(t, put32(put64(data[:128], 64+8, 0), 0, 1))
	list, err := f.Entries()
	require.NoError(t, err)
	require.Equal(t, []Entry{{Offset: 64, Tag: 1, DataOffset: 128}}, list)
	payload, err := f.Data(list[0])
	require.NoError(t, err)
	require.Empty(t, payload)
	require.Empty(t, f.Warnings())
}

// unaligned is a file whose second entry starts directly after the first one's
// payload, at 134, and has a payload of size bytes.
func unaligned(t *testing.T, size int) []byte {
	t.Helper()
	data, _ := three(t)
	second := put64(put64(data[64:128], 8, uint64(size)), 16, 134+64)
	return put32(append(append(bytes.Clone(data[:134]), second...), make([]byte, size)...), 0, 2)
}

func TestEntriesWithoutAlignment(t *testing.T) {
	for name, data := range map[string][]byte{
		"the last has no payload": unaligned(t, 0),
		// The next multiple of 64 lies within the metadata: no entry has room there.
		"a mark at the next multiple of 64": put32(unaligned(t, 2), 192, sentinel),
	} {
		list, err := open(t, data).Entries()
		require.NoError(t, err, name)
		require.Len(t, list, 2, name)
		require.EqualValues(t, 134, list[1].Offset, name)
	}
}

// TestNoEntryInTheHeader puts the mark of an entry into a header's unused bytes.
func TestNoEntryInTheHeader(t *testing.T) {
	data, _ := three(t)
	_, err := open(t, put32(data, 36, sentinel)).Entry(36 + 64)
	require.ErrorIs(t, err, ErrOffset)
	require.ErrorContains(t, err, "no entry starts at offset 100")
	_, err = open(t, data[:65+64]).Entry(65)
	require.ErrorContains(t, err, "no entry starts at offset 65", "there is room for one")
}

func TestUnusedBits(t *testing.T) {
	data, _ := three(t)
	f := open(t, put64(put32(data, 64+4, 4), 64+24, 3))
	e, err := f.Entry(64)
	require.NoError(t, err)
	require.Zero(t, e.UnusedBits, "int8 leaves none")
	require.Len(t, f.Warnings(), 1)

	var w Writer
	at, err := w.Add(mil.UInt1, []byte{1}, 7)
	require.NoError(t, err)
	e, err = open(t, w.Bytes()).Entry(at)
	require.NoError(t, err)
	require.Equal(t, 7, e.UnusedBits)
	_, err = w.Add(mil.Int8, []byte{1}, 4)
	require.ErrorContains(t, err, "4 unused bits for int8")
}

func TestWarningsAreAtMostAHundred(t *testing.T) {
	var w Writer
	for range 120 {
		_, err := w.Add(mil.UInt8, []byte{1}, 0)
		require.NoError(t, err)
	}
	data := w.Bytes()
	for at := First; at < len(data); at += 128 {
		data[at+63] = 1 // the metadata should end with zeros
	}
	f := open(t, data)
	list, err := f.Entries()
	require.NoError(t, err)
	require.Len(t, list, 120)
	require.Len(t, f.Warnings(), 100)
}

// TestClosingLeavesTheReaderToItsOwner closes a File of NewReader.
func TestClosingLeavesTheReaderToItsOwner(t *testing.T) {
	data, _ := three(t)
	f := open(t, data)
	require.NoError(t, f.Close())
	_, err := f.Entry(64)
	require.ErrorIs(t, err, ErrClosed)
}

func TestDataOfTheCallersEntry(t *testing.T) {
	data, _ := three(t)
	f := open(t, data)
	got, err := f.Data(Entry{DataOffset: First, Size: 8})
	require.NoError(t, err)
	require.Equal(t, data[First:First+8], got)
	got, err = f.Data(Entry{DataOffset: int64(len(data))})
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestFloat32As16EndsAsItsStreamDoes(t *testing.T) {
	for bytesIn, want := range map[int]error{0: nil, 12: nil, 13: io.ErrUnexpectedEOF, 15: io.ErrUnexpectedEOF} {
		got, err := io.ReadAll(Float32As16(io.NopCloser(bytes.NewReader(make([]byte, bytesIn)))))
		require.Equal(t, want, err, bytesIn)
		require.Len(t, got, bytesIn/4*2)
	}
}

func TestSourcesReportTheErrorOfTheFirst(t *testing.T) {
	_, err := Sources{Files{"@model_path/a": nil}, Files{"@model_path/b": nil}}.ReadFile("@model_path/w")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "@model_path/a", "the files that the first source has")
	_, err = Files{}.ReadFile("@model_path/w")
	require.ErrorContains(t, err, "it has no weight files")
}

// TestAFileOfTheLargestSize fills files up to a few bytes below the largest int64,
// with streams that are never read.
func TestAFileOfTheLargestSize(t *testing.T) {
	add := func(w *Writer, size int) error {
		before := w.Size()
		at, err := w.AddStream(mil.TensorOf(mil.UInt8, size), func() (io.ReadCloser, error) { return nil, nil })
		if err == nil {
			require.GreaterOrEqual(t, at, uint64(before))
			require.Greater(t, w.Size(), before)
			return nil
		}
		require.ErrorIs(t, err, ErrSize)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, -1, e.Offset)
		require.Equal(t, before, w.Size())
		return err
	}
	const eighth = math.MaxInt64/8 + 1
	for below := range 300 {
		var w Writer
		for range 7 {
			require.NoError(t, add(&w, eighth-64)) // an eighth including its metadata
		}
		rest := math.MaxInt64 - w.Size() - 64
		_ = add(&w, int(rest)-below)
		require.Error(t, add(&w, eighth-1), "one more eighth does not fit")
		for range 8 { // each fits or is refused, and is placed after the others
			_ = add(&w, 1)
		}
	}
}
