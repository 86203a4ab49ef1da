package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
)

// A loaded program has its text on disk only with KeepFiles, and a closed one never.
func TestKeepFiles(t *testing.T) {
	t.Setenv(objcbridge.EnvDir, bridgetest.Build(t))
	dir := t.TempDir()
	t.Setenv(standin.EnvTempDir, dir)
	t.Setenv("TMPDIR", dir)
	texts := func() int {
		found := map[string]bool{}
		for _, root := range []string{dir, os.Getenv("TEMP")} { // the latter if a test has loaded the stand-in before
			require.NoError(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				if err == nil && e.Name() == "model.mil" {
					found[path] = true
				}
				return err
			}))
		}
		return len(found)
	}
	for _, c := range []struct {
		text string // the framework writes no files for a text that it has in its cache
		opts []engine.Option
		want int
	}{{large, nil, 0}, {strings.ReplaceAll(large, "192", "96"), []engine.Option{engine.KeepFiles()}, 1}} {
		d, err := engine.Open(t.Context(), engine.StandIn, c.opts...)
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Text: []byte(c.text)})
		require.NoError(t, err)
		require.Equal(t, c.want, texts())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
		require.Zero(t, texts())
	}
}
