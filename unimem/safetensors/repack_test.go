package safetensors

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepack(t *testing.T) {
	for _, align := range []int{1, 64, 16384} {
		f, err := Open(write(t))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "out"+extension)
		n, err := Repack(t.Context(), path, f, align)
		require.NoError(t, err)
		require.EqualValues(t, 3+8+3+0+8, n)
		for range 2 { // a repacked file keeps its tensors when it is repacked once more
			g, err := Open(path)
			require.NoError(t, err)
			require.Equal(t, f.Names(), g.Names())
			require.Equal(t, f.Metadata(), g.Metadata())
			for _, name := range f.Names() {
				a, err := f.Tensor(name)
				require.NoError(t, err)
				b, err := g.Tensor(name)
				require.NoError(t, err)
				require.Equal(t, a.Bytes(), b.Bytes())
				require.Equal(t, a.Shape(), b.Shape())
				require.Equal(t, a.DType(), b.DType())
				require.Zero(t, b.Offset()%int64(align))
				require.True(t, align == 1 || b.Aligned())
			}
			require.NoError(t, g.Check(t.Context(), nil))
			before := len(g.order)
			_, err = Repack(t.Context(), path, g, align)
			require.NoError(t, err)
			require.NoError(t, g.Close())
			g, err = Open(path)
			require.NoError(t, err)
			require.Equal(t, before, len(g.order), "padding does not add up")
			require.NoError(t, g.Close())
		}
		require.NoError(t, f.Close())
		_, err = Repack(t.Context(), path, f, align)
		require.ErrorIs(t, err, ErrClosed)
	}
}

// A part of a sharded model is not replaced by the whole: the other files and the index would not agree with it.
func TestRepackReplacesNoPart(t *testing.T) {
	dir := t.TempDir()
	for name, tensor := range map[string]string{"a.safetensors": "x", "b.safetensors": "y"} {
		w, err := Create(filepath.Join(dir, name), nil)
		require.NoError(t, err)
		require.NoError(t, w.Add(tensor, U8, []int{3}, []byte{1, 2, 3}))
		require.NoError(t, w.Close())
	}
	index := filepath.Join(dir, "model"+indexExtension)
	require.NoError(t, os.WriteFile(index, []byte(`{"weight_map":{"x":"a.safetensors","y":"b.safetensors"}}`), 0o600))
	link := filepath.Join(t.TempDir(), "link"+extension)
	require.NoError(t, os.Link(filepath.Join(dir, "a.safetensors"), link))
	for _, in := range []string{dir, index} {
		f, err := Open(in)
		require.NoError(t, err)
		for _, out := range []string{filepath.Join(dir, "b.safetensors"), index, link} {
			_, err = Repack(t.Context(), out, f, 64)
			require.ErrorIs(t, err, os.ErrExist, out)
		}
		require.NoError(t, f.Close())
		f, err = Open(in)
		require.NoError(t, err)
		require.Equal(t, []string{"x", "y"}, f.Names())
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.Remove(index)) // a folder without an index
	f, err := Open(dir)
	require.NoError(t, err)
	_, err = Repack(t.Context(), filepath.Join(dir, "a.safetensors"), f, 64)
	require.ErrorIs(t, err, os.ErrExist)
	require.NoError(t, f.Close())
}

// A folder whose files have no index is all of them: a new one would have every tensor again.
func TestRepackIntoItsFolder(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a"+extension), nil)
	require.NoError(t, err)
	require.NoError(t, w.Add("x", U8, []int{3}, []byte{1, 2, 3}))
	require.NoError(t, w.Close())
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(dir, link) != nil { // Windows asks for a right
		link = dir
	}
	f, err := Open(dir)
	require.NoError(t, err)
	for _, out := range []string{filepath.Join(dir, "new"+extension), filepath.Join(link, "new"+extension),
		filepath.Join(dir, "new"+indexExtension)} {
		_, err = Repack(t.Context(), out, f, 64)
		require.ErrorIs(t, err, os.ErrExist, out)
		require.NoFileExists(t, out)
	}
	for _, out := range []string{filepath.Join(dir, "a"+extension), filepath.Join(dir, ".new"+extension),
		filepath.Join(dir, "new"), filepath.Join(t.TempDir(), "new"+extension)} {
		_, err = Repack(t.Context(), out, f, 64)
		require.NoError(t, err, out)
	}
	require.NoError(t, f.Close())
	f, err = Open(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, f.Names())
	require.NoError(t, f.Close())
}
