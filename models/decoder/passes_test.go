package decoder

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
)

// A prompt of any length takes passes whose columns are mostly full, or steps.
func TestPassesOfAPrompt(t *testing.T) {
	m := &Model{config: Config{KVHeads: 1, HeadDim: 2, Positions: 1 << 14}, o: options{form: Compact, context: 1 << 13}}
	require.NoError(t, m.divide())
	require.Equal(t, []int{256, 1024, 8192}, m.shown)
	for n := 1; n <= 2000; n++ {
		columns, passes := 0, 0
		for left := n; left > 0; passes++ {
			i, _ := m.cheapest(left)
			require.Zero(t, i%len(m.shown))
			columns += m.layersOf[i].columns
			left -= min(left, m.layersOf[i].columns)
		}
		require.Less(t, columns, 2*n+3, "%d tokens", n)
		require.LessOrEqual(t, passes, n/256+5, "%d tokens", n)
	}
}

// BenchmarkRoom is of a step with 40 tokens held. The floor of a large room is the least one, which has the same tokens.
// Before programs for parts of a room a step in 8192 took three times as long as one in 64.
func BenchmarkRoom(b *testing.B) {
	for _, room := range []int{64, 8192} {
		b.Run(fmt.Sprint(room), func(b *testing.B) {
			want, m := open(b, engine.Soft, decodertest.Spec{Family: decodertest.Llama3, Hidden: 256, Heads: 8,
				KVHeads: 4, HeadDim: 32, Intermediate: 512, Positions: 8192}, WithForm(Compact), Context(room))
			s := begin(b, m)
			require.NoError(b, s.Prefill(b.Context(), text(40, want.Vocabulary, 1)))
			for b.Loop() {
				require.NoError(b, s.Step(b.Context(), 1))
				require.NoError(b, s.Truncate(40))
			}
		})
	}
}
