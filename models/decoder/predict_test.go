package decoder

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
)

// What Predict says is what Load does.
func TestPredictedPlans(t *testing.T) {
	effort.SkipShort(t)
	for i, opts := range [][]Option{
		{WithForm(Compact)},
		{WithForm(Engine), Chip(chip.M4)},
		{WithForm(EngineInt8), Chip(chip.M4), Context(100)},
		{WithForm(Engine), func(o *options) { o.weights = 20000 }, Chunk(32)},     // layers are cut
		{WithForm(EngineInt8), func(o *options) { o.weights = 20000 }, Chunk(96)}, // in sets of their own
		{WithForm(Engine), func(o *options) { o.weights = 20000 }},                // more than a chip loads at once
	} {
		if i%3 != 0 && !effort.Full() {
			continue
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := decodertest.Spec{Family: decodertest.Families()[i%5], Bits: 4 * (i % 2), Layers: 3 + 9*(i/5),
				Seed: uint64(i), Overrides: map[string]int{"model.layers.1.mlp.down_proj": 8}}
			_, m := open(t, engine.Soft, s, opts...)
			got, err := Predict(m.folder, opts...)
			require.NoError(t, err)
			want := m.Plan()
			want.WeightsMapped, want.WeightsConverted, want.ScratchBytes = 0, 0, 0
			require.Equal(t, want, got)
			require.NotZero(t, got.Programs[0].WeightBytes)
			require.Equal(t, i == 5, got.Turns > 0)
		})
	}
}

// A plan beyond a limit is returned, so that a caller can show by how much; Load refuses it.
func TestPredictedExcess(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Positions: 1 << 20})
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	defer f.Close()
	p, err := Predict(f, WithForm(Engine), Context(1<<19))
	require.NoError(t, err)
	over := 0
	for _, b := range p.Budgets {
		if b.Over() {
			over++
		}
	}
	require.Positive(t, over)
	_, err = Predict(f, Context(1<<21))
	require.ErrorIs(t, err, ErrTooLong)
	_, err = Predict(f, func(o *options) { o.weights = 100 })
	require.ErrorIs(t, err, ErrLimits)
}
