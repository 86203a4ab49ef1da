package actor

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/numerics"
)

// Frozen between any two tokens, an actor goes on as one that was never frozen, in the arithmetic of every chip: also
// one that was frozen after its prompt and before it asked for logits.
func TestThawedActorsGoOnInAllNumerics(t *testing.T) {
	leaktest.SkipEmulated(t)
	dir := modelDir(t, decodertest.Spec{Seed: 11, Bits: 4})
	long := make([]int, 24)
	for i := range long {
		long[i] = (i*7 + 3) % 60
	}
	for _, g := range numerics.Modes() {
		t.Run(g.String(), func(t *testing.T) {
			s := newStage(t, dir, engine.Soft, engine.Numerics(g.Chip()))
			for _, text := range [][]byte{Talker(), binaryOf(t, "testdata/late.wasm")} {
				c := s.load(t, text)
				config := func() Config { return Config{Prompt: long, Sampler: drawn(t)} }
				whole := say(t, start(t, c, config()), 4)
				path := filepath.Join(t.TempDir(), "a")
				a := start(t, c, config())
				var said []int
				for range whole {
					require.NoError(t, a.Freeze(context.Background(), path))
					a = thaw(t, c, path)
					said = append(said, say(t, a, 1)...)
				}
				require.Equal(t, whole, said)
			}
		})
	}
}
