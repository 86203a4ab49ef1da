package safetensors

import (
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
			}
			if align > 1 {
				require.Equal(t, g.Report().Bytes, g.Report().Usable)
			}
			require.NoError(t, g.Check(t.Context(), nil))
			before := g.count()
			_, err = Repack(t.Context(), path, g, align)
			require.NoError(t, err)
			require.NoError(t, g.Close())
			g, err = Open(path)
			require.NoError(t, err)
			require.Equal(t, before, g.count(), "padding does not add up")
			require.NoError(t, g.Close())
		}
		require.NoError(t, f.Close())
		_, err = Repack(t.Context(), path, f, align)
		require.ErrorIs(t, err, ErrClosed)
	}
}
