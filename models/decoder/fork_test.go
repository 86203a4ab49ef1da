package decoder

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
)

// Two conversations after one prompt go on as if each had taken the prompt itself, whichever is closed first.
func TestForkedConversationsGoOn(t *testing.T) {
	engines := []string{engine.Soft}
	if brokertest.Here() {
		engines = append(engines, engine.Broker)
	}
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Seed: 3, Config: map[string]any{"eos_token_id": nil}})
	require.NoError(t, err)
	for _, name := range engines {
		for _, form := range []Form{Engine, Compact} {
			m := load(t, name, dir, WithForm(form), Context(256), Chunk(32))
			prompt := text(40, 96, 1)
			first, second := answer(t, m, prompt, drawn(t, 1), 12), answer(t, m, prompt, drawn(t, 2), 12)
			require.NotEqual(t, first, second)

			s, err := m.NewSession()
			require.NoError(t, err)
			require.NoError(t, s.Prefill(t.Context(), prompt))
			f, err := s.Fork()
			require.NoError(t, err)
			require.Equal(t, prompt, f.Tokens())
			require.Equal(t, s.Logits(), f.Logits())
			require.Positive(t, f.Copied(), "the keys and values of the prompt")
			a, b := Snapshot{Prompt: prompt, Sampler: drawn(t, 1)}, Snapshot{Prompt: prompt, Sampler: drawn(t, 2)}
			for range 3 { // in turn
				_, err = s.Answer(t.Context(), &a, 3, nil)
				require.NoError(t, err)
				_, err = f.Answer(t.Context(), &b, 3, nil)
				require.NoError(t, err)
			}
			path := filepath.Join(t.TempDir(), "snapshot")
			require.NoError(t, f.SaveFile(t.Context(), path, b))
			require.NoError(t, s.Truncate(20))
			require.NoError(t, s.Close())
			_, err = f.Answer(t.Context(), &b, 3, nil)
			require.NoError(t, err)
			require.Equal(t, first[:9], a.Answer)
			require.Equal(t, second, b.Answer)

			again, err := f.Fork()
			require.NoError(t, err)
			require.NoError(t, f.Close())
			_, err = f.Fork()
			require.ErrorIs(t, err, ErrClosed)
			c, err := again.RestoreFile(t.Context(), path, prompt)
			require.NoError(t, err)
			_, err = again.Answer(t.Context(), &c, 3, nil)
			require.NoError(t, err)
			require.Equal(t, second, c.Answer)
			require.NoError(t, again.Close())
		}
	}
}
