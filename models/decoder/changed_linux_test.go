package decoder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// A file that another process truncates is an error with its name, when the model is loaded and when a token reads it:
// its row of the embedding or, where weights lie in the file, any program.
func TestFilesThatBecomeShorter(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for _, c := range []struct {
		dtype safetensors.DType
		bits  int
		late  bool
	}{{safetensors.BF16, 0, false}, {safetensors.F16, 0, false}, {safetensors.F16, 4, false},
		{safetensors.BF16, 0, true}, {safetensors.F16, 0, true}, {safetensors.F16, 4, true}} {
		dir := t.TempDir()
		_, err := decodertest.Write(dir, decodertest.Spec{DType: c.dtype, Bits: c.bits, Vocabulary: 4096})
		require.NoError(t, err)
		path := filepath.Join(dir, "model.safetensors")
		f, err := Open(dir)
		require.NoError(t, err)
		if !c.late {
			require.NoError(t, os.Truncate(path, 4096))
		}
		m, err := Load(t.Context(), d, f, WithForm(Compact), Context(32))
		if c.late {
			require.NoError(t, err)
			s, failed := m.NewSession()
			require.NoError(t, failed)
			require.NoError(t, os.Truncate(path, 4096))
			err = s.Step(t.Context(), 4000)
			require.NoError(t, s.Close())
			require.NoError(t, m.Close(t.Context()))
		}
		require.ErrorIs(t, err, unimem.ErrChanged, "%+v", c)
		require.ErrorContains(t, err, path)
		require.NotContains(t, err.Error(), "limit")
		require.NoError(t, f.Close())
	}
}
