package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/numerics"
)

// The arithmetic of a chip, whose functions come from tables and whose sums come in fours, stays within the bound too.
func TestNumericsOfChips(t *testing.T) {
	effort.SkipShort(t)
	for _, mode := range []numerics.Mode{numerics.M1, numerics.M2, numerics.M4, numerics.M5, numerics.M6} {
		for i, family := range decodertest.Families() {
			if !effort.Sample(i+int(mode-numerics.M1), 12) {
				continue
			}
			for _, form := range []Form{Engine, Compact} {
				dir := t.TempDir()
				want, err := decodertest.Write(dir, decodertest.Spec{Family: family, Seed: 2})
				require.NoError(t, err)
				d, err := engine.Open(t.Context(), engine.Soft, engine.Numerics(mode.Chip()))
				require.NoError(t, err)
				f, err := Open(dir)
				require.NoError(t, err)
				m, err := Load(t.Context(), d, f, WithForm(form), Context(64))
				require.NoError(t, err)
				s, err := m.NewSession()
				require.NoError(t, err)
				tokens := text(12, want.Vocabulary, 3)
				logits := exact(want, tokens)
				worst := 0.0
				for i, token := range tokens {
					require.NoError(t, s.Step(t.Context(), token))
					d, _ := most(s.Logits(), logits[i])
					worst = max(worst, d)
				}
				require.LessOrEqual(t, worst, bound(want, tokens, logits), "%v %v %v", mode, family, form)
				require.NoError(t, s.Close())
				require.NoError(t, m.Close(t.Context()))
				require.NoError(t, f.Close())
				require.NoError(t, d.Close())
			}
		}
	}
}
