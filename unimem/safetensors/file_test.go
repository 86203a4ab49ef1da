package safetensors

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// write makes a file of tensors of bytes 1, 2, 3 and so on.
func write(t *testing.T, opts ...Option) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m"+extension)
	w, err := Create(path, map[string]string{"format": "pt", "wi\"th": "a\nline"}, opts...)
	require.NoError(t, err)
	require.NoError(t, w.Add("odd", U8, []int{3}, []byte{1, 2, 3}))
	require.NoError(t, w.Add("half", F16, []int{2, 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.NoError(t, w.Add("four", F4, []int{2, 3}, []byte{1, 2, 3}))
	require.NoError(t, w.Add("none", F32, []int{0, 7}, nil))
	require.NoError(t, w.Add("scalar", F64, nil, make([]byte, 8)))
	require.NoFileExists(t, path, "a file appears whole")
	require.NoError(t, w.Close())
	require.ErrorIs(t, w.Close(), ErrClosed)
	w.Abort()
	return path
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for name, opts := range map[string][]Option{
		"dense": nil, "aligned": {Align(64)}, "pages": {Align(16384)}, "many": {Expect(1)}, "unsynced": {NoSync()},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, opts...)
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, entries, 1, "no temporary file")
			f, err := Open(path)
			require.NoError(t, err)
			require.Equal(t, []string{"four", "half", "none", "odd", "scalar"}, f.Names())
			require.Equal(t, map[string]string{"format": "pt", "wi\"th": "a\nline"}, f.Metadata())
			half, err := f.Tensor("half")
			require.NoError(t, err)
			require.Equal(t, F16, half.DType())
			require.Equal(t, []int{2, 2}, half.Shape())
			require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8}, half.Bytes())
			require.Equal(t, len(opts) > 0 && (name == "aligned" || name == "pages"), half.Aligned())
			four, err := f.Tensor("four")
			require.NoError(t, err)
			require.Equal(t, "F4", four.DType().String())
			require.Equal(t, []byte{1, 2, 3}, four.Bytes())
			none, err := f.Tensor("none")
			require.NoError(t, err)
			require.NotNil(t, none.Bytes())
			require.Empty(t, none.Bytes())
			_, err = f.Tensor("other")
			require.ErrorIs(t, err, ErrName)

			b, at, err := half.Block()
			require.NoError(t, err)
			require.Equal(t, half.Bytes(), b.Bytes()[at:at+8])
			require.NoError(t, b.Retain())
			require.ErrorIs(t, f.Close(), unimem.ErrInUse)
			require.NotNil(t, half.Bytes(), "a refused Close changes nothing")
			b.Release()
			require.NoError(t, f.Close())
			require.NoError(t, f.Close())
			require.Nil(t, half.Bytes())
			_, err = f.Tensor("half")
			require.ErrorIs(t, err, ErrClosed)
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m"+extension)
	w, err := Create(path, nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("a", U8, []int{1}, []byte{1}))
	require.ErrorIs(t, w.Add("a", U8, []int{1}, []byte{1}), ErrDuplicate)
	require.ErrorIs(t, w.Add("b", U8, []int{2}, []byte{1}), ErrShape)
	require.ErrorIs(t, w.Add("b", F4, []int{3}, []byte{1}), ErrShape, "half a byte")
	require.ErrorIs(t, w.Add("b", U8, []int{-1}, []byte{1}), ErrShape)
	require.ErrorIs(t, w.Add("b", 0, []int{1}, []byte{1}), ErrDType)
	require.ErrorIs(t, w.Add("__metadata__", U8, []int{1}, []byte{1}), ErrHeader)
	w.Abort()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, entries)
}

// Calls on a nil and on a zero File, Writer and Tensor return ErrClosed or nothing.
func TestNilAndZero(t *testing.T) {
	for _, f := range []*File{nil, {}} {
		require.Empty(t, f.Names())
		require.Empty(t, f.Metadata())
		require.Zero(t, f.Report())
		_, err := f.Tensor("x")
		require.ErrorIs(t, err, ErrClosed)
		require.NoError(t, f.Close())
	}
	for _, w := range []*Writer{nil, {}} {
		require.ErrorIs(t, w.Add("x", U8, []int{1}, []byte{1}), ErrClosed)
		require.ErrorIs(t, w.Close(), ErrClosed)
		w.Abort()
	}
	_, err := Repack(t.Context(), filepath.Join(t.TempDir(), "x"), nil, 64)
	require.ErrorIs(t, err, ErrClosed)
}

// A header that becomes longer than its room moves the tensors, some MiB at a time.
func TestWriterMovesTensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m"+extension)
	w, err := Create(path, nil, Expect(1), NoSync())
	require.NoError(t, err)
	const tensors, size = 40, 70_001
	of := func(i int) []byte {
		data := make([]byte, size)
		for j := range data {
			data[j] = byte(i + j*j>>7)
		}
		return data
	}
	room := w.room
	for i := range tensors {
		require.NoError(t, w.Add(fmt.Sprint("a long name of tensor ", i), U8, []int{size}, of(i)))
	}
	require.NoError(t, w.Close())
	require.Greater(t, w.room, room)
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	for i := range tensors {
		tensor, err := f.Tensor(fmt.Sprint("a long name of tensor ", i))
		require.NoError(t, err)
		require.NoError(t, tensor.guard("test", func(b []byte) error {
			require.True(t, bytes.Equal(of(i), b), i)
			return nil
		}))
	}
}

// The first tensor of a file begins at a multiple of the alignment, within the longest header.
func TestWriterAlignsWithinTheHeader(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{3, 2 * maxAlign, 1 << 62} {
		_, err := Create(filepath.Join(dir, "x"), nil, Align(n))
		require.ErrorIs(t, err, ErrMisaligned, n)
	}
	w, err := Create(filepath.Join(dir, "x"), nil, Align(maxAlign))
	require.NoError(t, err)
	w.Abort()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
