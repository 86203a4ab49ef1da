//go:build unix

package decoder

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/decodertest"
)

// A pipe in a model's folder is refused: to open it would wait for a writer.
func TestPipesAreRefused(t *testing.T) {
	for name, kind := range map[string]error{"config.json": ErrConfig, "generation_config.json": ErrConfig,
		"model.safetensors": ErrWeights, "model.safetensors.index.json": ErrWeights, "tokenizer.json": ErrTokenizer} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := decodertest.Write(dir, decodertest.Spec{})
			require.NoError(t, err)
			path := filepath.Join(dir, name)
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, syscall.Mkfifo(path, 0o600))
			f, err := Open(dir)
			if name == "tokenizer.json" {
				require.NoError(t, err)
				_, err = f.Fingerprint(t.Context())
				one(t, err, kind, name, "regular")
				_, err = f.Tokenizer()
				require.ErrorIs(t, err, kind)
				require.ErrorContains(t, err, "regular")
				require.NoError(t, f.Close())
				return
			}
			one(t, err, kind, name, "regular")
		})
	}
}
