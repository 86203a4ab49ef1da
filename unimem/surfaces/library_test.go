package surfaces_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/surfaces"
)

func TestLoadRefusals(t *testing.T) {
	here := filepath.Join(t.TempDir(), "none.so")
	for name, c := range map[string]struct {
		ioSurface, coreFoundation, text string
		path                            bool
	}{
		"empty":         {"", here, "it is empty", true},
		"second empty":  {here, "", "it is empty", true},
		"bare":          {"libc.so.6", here, "write ./libc.so.6", true},
		"zero byte":     {"/lib/x\x00y", here, "zero byte", true},
		"second bare":   {here, "none", "no folder", true},
		"absent":        {here, here, "none.so", false},
		"folder":        {t.TempDir(), here, "surfaces: load", false},
		"relative":      {"./none/../none.so", "./none.so", "none.so", false},
		"very long":     {"/" + string(make([]byte, 1<<20)), here, "zero byte", true},
		"not a library": {"/etc/passwd", "/etc/passwd", "surfaces: load", false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := surfaces.Load(c.ioSurface, c.coreFoundation)
			require.Nil(t, l)
			require.ErrorIs(t, err, unimem.ErrCreate)
			var e *surfaces.LoadError
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.ioSurface, e.IOSurface)
			require.ErrorContains(t, err, c.text)
			if c.path {
				require.ErrorIs(t, err, surfaces.ErrPath)
			} else {
				require.NotErrorIs(t, err, surfaces.ErrPath)
			}
		})
	}
}

func TestSystem(t *testing.T) {
	l, err := surfaces.System()
	if host.Mac {
		require.NoError(t, err)
		require.NotNil(t, l)
		return
	}
	require.Nil(t, l)
	require.ErrorIs(t, err, surfaces.ErrNoSystem)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorContains(t, err, "only macOS has IOSurface")
}

// A nil library opens no memory of another kind.
func TestNoLibrary(t *testing.T) {
	for _, l := range []*surfaces.Library{nil, {}} {
		before := unimem.Live()
		o := l.Option()
		_, err := unimem.Open(1, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		require.ErrorContains(t, err, "load one first")
		_, err = unimem.NewGrid(64, 2, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = unimem.NewGrid(64, 2, o, unimem.SurfacePerCell())
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = unimem.Start(1, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = unimem.NewLayout(1, 1, 1, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = l.Adopt(1, 1)
		require.ErrorIs(t, err, unimem.ErrOption)
		require.Equal(t, before, unimem.Live())
	}
}
