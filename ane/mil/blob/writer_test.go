package blob

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// TestTags writes and reads an entry of every tag.
func TestTags(t *testing.T) {
	seen := map[mil.DType]bool{}
	for tag := Tag(1); tag <= 17; tag++ {
		require.True(t, tag.Known())
		require.Positive(t, tag.Bits())
		var w Writer
		at, err := w.AddTag(tag, make([]byte, 12), 0) // 96 bits: whole elements of every width
		require.NoError(t, err)
		e, err := open(t, w.Bytes()).Entry(at)
		require.NoError(t, err)
		require.Equal(t, tag, e.Tag)
		if d := tag.DType(); d != mil.NoType {
			require.False(t, seen[d])
			seen[d] = true
			back, ok := TagOf(d)
			require.True(t, ok)
			require.Equal(t, tag, back)
			require.Equal(t, d.String(), tag.String())
		}
	}
	require.Len(t, seen, 15)
	for _, d := range []mil.DType{mil.NoType, mil.Bool, mil.String, mil.FP64, mil.Int64, mil.UInt64, mil.Int1, 200} {
		_, ok := TagOf(d)
		require.False(t, ok, d)
	}
	require.False(t, Tag(0).Known())
	require.Equal(t, "type 18", Tag(18).String())
	require.Equal(t, "fp8e5m2", Float8E5M2.String())
}

func TestAddFaults(t *testing.T) {
	for _, c := range []struct {
		d       mil.DType
		bytes   int
		unused  int
		is      error
		message string
	}{
		{mil.FP16, 3, 0, ErrSize, "not a whole number of fp16 elements"},
		{mil.FP16, 0, 0, ErrSize, "not a whole number"},
		{mil.FP16, 2, 4, ErrSize, "4 unused bits for fp16"},
		{mil.Int4, 1, 8, ErrSize, "8 unused bits for int4"},
		{mil.Int4, 1, -1, ErrSize, "-1 unused bits"},
		{mil.Int4, 1, 3, ErrSize, "not a whole number of int4"},
		{mil.UInt3, 1, 1, ErrSize, "not a whole number of uint3"},
		{mil.Bool, 1, 0, ErrType, "cannot hold bool"},
		{mil.NoType, 1, 0, ErrType, "cannot hold invalid"},
	} {
		var w Writer
		_, err := w.Add(c.d, make([]byte, c.bytes), c.unused)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, c.message)
		require.EqualValues(t, headerSize, w.Size(), "a refused entry does not change the file")
	}
	var w Writer
	_, err := w.AddTag(18, []byte{1}, 0)
	require.ErrorIs(t, err, ErrType)
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "w.bin")
	var w Writer
	at, err := w.Add(mil.FP16, []byte{1, 2}, 0)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, w.WriteFile(path))
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	data, err := f.Tensor(at, mil.TensorOf(mil.FP16, 1))
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2}, data)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.Error(t, w.WriteFile(filepath.Join(dir, "sub")), "a directory is not replaced")
	require.ErrorIs(t, w.WriteFile(filepath.Join(dir, "none", "w.bin")), os.ErrNotExist)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 2, "no temporary file remains")
}

// short takes n bytes and then fails.
type short struct{ n int }

var errFull = errors.New("full")

func (s *short) Write(b []byte) (int, error) {
	if s.n -= len(b); s.n < 0 {
		return len(b) + s.n, errFull
	}
	return len(b), nil
}

func TestWriteTo(t *testing.T) {
	var w Writer
	_, err := w.Add(mil.UInt8, []byte{7}, 0)
	require.NoError(t, err)
	for n := range int(w.Size()) {
		written, err := w.WriteTo(&short{n})
		require.ErrorIs(t, err, errFull)
		require.EqualValues(t, n, written)
	}
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	var none Writer
	require.Len(t, none.Bytes(), headerSize)
}

// TestConcurrent reads one file from several goroutines, with warnings.
func TestConcurrent(t *testing.T) {
	data, offsets := three(t)
	f := open(t, put32(put64(data, 80, 0), 196, 11))
	done := make(chan error)
	for range 8 {
		go func() {
			for range 100 {
				if _, err := f.Tensor(offsets[0], mil.TensorOf(mil.FP16, 3)); err != nil {
					done <- err
					return
				}
				if _, err := f.Tensor(offsets[1], mil.TensorOf(mil.Int4, 3)); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
	require.Len(t, f.Warnings(), 2)
}
