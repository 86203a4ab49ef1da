package coreml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/coreml"
)

// TestPublishedModels opens the models in the folder that ANEKIT_MODELS names. A NAME.mlpackage is compared with the
// NAME.mlmodelc beside it, which Apple's compiler made of it.
func TestPublishedModels(t *testing.T) {
	dir := os.Getenv("ANEKIT_MODELS")
	if dir == "" {
		t.Skip("run with ANEKIT_MODELS=FOLDER of .mlpackage and .mlmodelc")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.ml*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m, err := coreml.Open(path)
			require.NoError(t, err)
			check(t, m)
			require.Empty(t, m.Remarks())
			name, ok := strings.CutSuffix(path, ".mlpackage")
			if _, err := os.Stat(name + ".mlmodelc"); !ok || err != nil {
				return
			}
			compiled, err := coreml.Open(name + ".mlmodelc")
			require.NoError(t, err)
			require.NoError(t, same(m.Tree(), compiled.Tree()))
			require.Equal(t, compiled.Description.Functions, m.Description.Functions)
		})
	}
}
