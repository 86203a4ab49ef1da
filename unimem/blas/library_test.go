package blas_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem/blas"
)

// A library that is not there, or is none, is refused on one line with what to do, and the methods of what OpenFile
// returned then refuse too.
func TestMissingLibrary(t *testing.T) {
	leaktest.SkipEmulated(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o600))
	cut := filepath.Join(dir, "cut.so")
	require.NoError(t, os.WriteFile(cut, []byte("\x7fELF\x02\x01\x01"), 0o600))
	empty := filepath.Join(dir, "empty.so")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for name, path := range map[string]string{
		"missing": filepath.Join(dir, "none.so"), "no name": "", "folder": dir, "text": text, "cut": cut,
		"empty": empty, "without the function": "libc.so.6", "two lines": filepath.Join(dir, "a\nb.so"),
		"zero byte": text + "\x00/../libopenblas.so.0", "long": strings.Repeat("x", 1<<16),
	} {
		l, err := blas.OpenFile(path)
		require.ErrorIs(t, err, blas.ErrUnavailable, name)
		require.NotContains(t, err.Error(), "\n", name)
		var e *blas.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, path, e.What)
		require.NotEmpty(t, e.Hint)
		require.Less(t, len(err.Error()), 4096, name)
		require.Nil(t, l)
		require.Empty(t, l.Name())
		require.ErrorIs(t, l.Product(blas.Matrix{}, blas.Matrix{}, blas.Matrix{}), blas.ErrUnavailable)
		require.ErrorIs(t, l.ProductAdd(blas.Matrix{}, blas.Matrix{}, blas.Matrix{}), blas.ErrUnavailable)
	}
}
