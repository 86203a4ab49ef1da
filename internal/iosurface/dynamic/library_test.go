package dynamic_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

func TestLoadRefusals(t *testing.T) {
	here := filepath.Join(t.TempDir(), "none.so")
	for name, c := range map[string]struct{ ioSurface, coreFoundation, text string }{
		"absent":        {here, here, "none.so"},
		"folder":        {t.TempDir(), here, "none.so"},
		"relative":      {"./none/../none.so", "./none.so", "none.so"},
		"not a library": {"/etc/passwd", "/etc/passwd", "passwd"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := dynamic.Load(c.ioSurface, c.coreFoundation)
			require.Nil(t, table)
			if !errors.Is(err, dynamic.ErrNoLoader) {
				require.ErrorContains(t, err, c.text)
			}
		})
	}
}

func TestSystem(t *testing.T) {
	table, err := dynamic.System()
	if host.Mac {
		require.NoError(t, err)
		require.NotNil(t, table)
		return
	}
	require.Nil(t, table)
	require.ErrorIs(t, err, dynamic.ErrNoSystem)
	require.ErrorContains(t, err, "only macOS has IOSurface")
}

// Without a library no memory of another kind is opened.
func TestNoLibrary(t *testing.T) {
	before := unimem.Live()
	o := unimem.Option(blockoption.On(nil))
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
	_, err = unimem.AdoptSurface(1, 1, o)
	require.ErrorIs(t, err, unimem.ErrOption)
	require.Equal(t, before, unimem.Live())
}
