package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
)

// A token costs its row of the embedding, its rotation, an element of the mask, and its keys and values; logits cost
// nothing until a caller asks for a copy, which has the numbers that Next chooses from.
func TestBytesCopiedForAToken(t *testing.T) {
	for _, form := range Forms() {
		want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Llama3, Heads: 4, KVHeads: 2, HeadDim: 32,
			Vocabulary: 1000}, WithForm(form), Context(60))
		s := begin(t, m)
		require.Equal(t, -1, s.Next(&Sampler{}))
		talk := Snapshot{Prompt: text(5, want.Vocabulary, 1)}
		_, err := s.Answer(t.Context(), &talk, 1, nil)
		require.NoError(t, err)
		before := s.Copied()
		_, err = s.Answer(t.Context(), &talk, 10, nil)
		require.NoError(t, err)
		n := int64(len(talk.Answer) - 1)
		require.Positive(t, n)
		keys := 2 * m.Config().Layers * 2 * 32 * 2
		require.Equal(t, n*int64(2*m.Config().Hidden+2*32+2+keys), s.Copied()-before, form)

		before = s.Copied()
		logits := s.Logits()
		require.EqualValues(t, 4*len(logits), s.Copied()-before)
		require.Equal(t, logits, s.Logits())
		require.EqualValues(t, 4*len(logits), s.Copied()-before, "one copy for a pass")
		var none *Sampler
		require.Equal(t, greedy(floats(logits)), none.Next(logits), "without a Sampler the largest")
		require.Equal(t, greedy(floats(logits)), s.Next(none))
		for _, temperature := range []float64{0, 0.7, 3} {
			a, err := NewSampler(temperature, 0.9, 5)
			require.NoError(t, err)
			b, err := NewSampler(temperature, 0.9, 5)
			require.NoError(t, err)
			for range 5 {
				require.Equal(t, a.Next(logits), s.Next(b))
			}
		}
	}
}
