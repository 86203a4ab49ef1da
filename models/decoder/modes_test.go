package decoder

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Weights that are read have the logits of those that are mapped, and do not depend on the file afterwards.
func TestModesOfLoading(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Qwen3, Bits: 4, Shards: 2, Seed: 5})
	require.NoError(t, err)
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer d.Close()
	var want []float32
	for _, mode := range safetensors.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			f, err := OpenAs(t.Context(), dir, mode)
			require.NoError(t, err)
			mapped := f.File().Report().Access == safetensors.Mapped
			require.Equal(t, mode != safetensors.ReadMode, mapped, "Auto maps small files")
			m, err := Load(t.Context(), d, f, WithForm(Compact), Context(64))
			require.NoError(t, err)
			require.ErrorIs(t, f.Close(), ErrInUse)
			require.Equal(t, mapped, m.Plan().WeightsMapped > 0)
			require.Equal(t, !mapped, m.Plan().WeightsRead > 0)
			s, err := m.NewSession()
			require.NoError(t, err)
			if !mapped {
				shards, err := filepath.Glob(filepath.Join(dir, "*.safetensors"))
				require.NoError(t, err)
				for _, shard := range shards {
					whole, err := os.ReadFile(shard)
					require.NoError(t, err)
					require.NoError(t, os.Truncate(shard, 0))
					defer func() { require.NoError(t, os.WriteFile(shard, whole, 0o600)) }()
				}
			}
			require.NoError(t, s.Prefill(t.Context(), []int{1, 5, 9, 2}))
			if want == nil {
				want = append(want, s.Logits()...)
			}
			require.Equal(t, want, s.Logits())
			require.NoError(t, s.Close())
			require.NoError(t, m.Close(t.Context()))
			require.NoError(t, f.Close())
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = OpenAs(ctx, dir, safetensors.ReadMode)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrWeights)
}
