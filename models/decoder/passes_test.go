package decoder

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
)

// A prompt of any length takes passes whose columns are mostly full, or steps.
func TestPassesOfAPrompt(t *testing.T) {
	m := &Model{config: Config{KVHeads: 1, HeadDim: 2, Positions: 1 << 14}, o: options{form: Compact, context: 1 << 13}}
	require.NoError(t, m.divide())
	require.Equal(t, []int{64, 256, 1024, 8192, 0}, m.shown)
	for _, bits := range []int{0, 4, 8} { // 0 for fp16
		m.config.quantization = &quantization{groups: groups{Bits: bits}}
		for n := 1; n <= 2000; n++ {
			columns, passes := 0, 0
			for left := n; left > 0; passes++ {
				i, _ := m.cheapest(left)
				require.Zero(t, i%len(m.shown))
				columns += m.layersOf[i].columns
				left -= min(left, m.layersOf[i].columns)
			}
			require.Less(t, columns, max(2*n+3, 9), "%d tokens of %d bits", n, bits)
			require.LessOrEqual(t, passes, n/256+6, "%d tokens of %d bits", n, bits)
		}
	}
}

// The state of columns without a token is 0 in all layers, also where a longer prompt has used them before.
func TestColumnsWithoutATokenAreZero(t *testing.T) {
	for _, family := range decodertest.Families() {
		want, m := open(t, engine.Soft, decodertest.Spec{Family: family, Layers: 3}, WithForm(Compact), Context(256))
		s, row := begin(t, m), make([]float32, want.Hidden)
		for _, n := range []int{13, 11, 16, 12} {
			require.NoError(t, s.Truncate(0))
			require.NoError(t, s.Prefill(t.Context(), text(n, want.Vocabulary, 1)))
			p := s.passes[slices.IndexFunc(s.passes, func(p *pass) bool { return p != nil && p.columns == 16 })]
			for i := range p.columns {
				state(p.last, i).load(row)
				used := slices.ContainsFunc(row, func(f float32) bool { return f != 0 })
				require.Equal(t, i < n, used, "column %d after %d tokens of %v", i, n, family)
			}
		}
	}
}

// ending is a context that ends when it has been looked at some times, by several goroutines.
type ending struct {
	context.Context
	looks atomic.Int64
}

func (e *ending) Err() error {
	if e.looks.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// A prompt whose context ends while its passes are compiled leaves a model that compiles them for the next one.
func TestContextEndsWhilePassesAreCompiled(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Layers: 3}, WithForm(Compact), Context(256))
	tokens := text(20, want.Vocabulary, 1)
	s, failed := begin(t, m), 0
	for looks := int64(0); ; looks = 2*looks + 1 {
		end := &ending{Context: t.Context()}
		end.looks.Store(looks)
		err := s.Prefill(end, tokens)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		failed++
	}
	require.Greater(t, failed, 3)
	require.Len(t, m.Plan().Programs, len(m.compiled))
	logits := slices.Clone(s.Logits())
	_, fresh := open(t, engine.Soft, decodertest.Spec{Layers: 3}, WithForm(Compact), Context(256))
	other := begin(t, fresh)
	require.NoError(t, other.Prefill(t.Context(), tokens))
	require.Equal(t, other.Logits(), logits)
}

// Passes that cannot be bound, however often, take the memory of one.
func TestPassesThatCannotBeBound(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Layers: 3}, WithForm(Compact), Context(64))
	tokens, ctx, first, s := text(9, want.Vocabulary, 1), t.Context(), begin(t, m), begin(t, m)
	require.NoError(t, first.Prefill(ctx, tokens)) // compiles the programs
	last := func(do func(*ane.Model, context.Context) error) {
		for _, set := range m.layersOf {
			if set.late && set.loaded {
				require.NoError(t, do(set.models[len(set.models)-1], ctx))
			}
		}
	}
	last((*ane.Model).Unload)
	require.ErrorIs(t, s.Prefill(ctx, tokens), ane.ErrNotLoaded)
	taken := s.layout.Scratch().Total()
	for range 3 {
		require.ErrorIs(t, s.Prefill(ctx, tokens), ane.ErrNotLoaded)
		require.Equal(t, taken, s.layout.Scratch().Total())
	}
	last((*ane.Model).Load)
	require.NoError(t, s.Prefill(ctx, tokens))
	require.Equal(t, first.Logits(), s.Logits())
	require.Equal(t, first.layout.Scratch().Total(), s.layout.Scratch().Total())
}

// The first pass of a prompt sees no token of the cache, and computes the same as one that sees those that it masks.
func TestFirstPassSeesNoCache(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Family: decodertest.Llama3}, WithForm(Compact), Context(64))
	s, prompt := begin(t, m), text(9, 64, 1)
	require.Less(t, slices.Max(prompt), want.Vocabulary)
	logits := func() []float32 {
		require.NoError(t, s.Prefill(t.Context(), prompt))
		defer func() { require.NoError(t, s.Truncate(0)) }()
		return slices.Clone(s.Logits())
	}
	first := logits()
	m.shown = []int{m.shown[0], m.shown[0]}
	require.Equal(t, first, logits())
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

// Load compiles the program of a step and has all weights of the layers; the first step makes the other instances. A
// prompt makes none of them.
func TestStepsComeWithTheFirst(t *testing.T) {
	want, m := open(t, engine.Soft, decodertest.Spec{Layers: 3, Bits: 4}, WithForm(Compact), Context(64))
	step, loads := m.layersOf[0], m.Plan().Loads
	require.Len(t, step.models, 1)
	require.Equal(t, 3+1, loads)
	s := begin(t, m)
	require.NoError(t, s.Prefill(t.Context(), text(5, want.Vocabulary, 1)))
	require.Len(t, step.models, 1)
	require.Nil(t, s.direct)
	loads = m.Plan().Loads
	require.NoError(t, s.Step(t.Context(), 1))
	require.Len(t, step.models, 3)
	require.NotNil(t, s.direct)
	require.Equal(t, loads, m.Plan().Loads, "they are counted once")
	f, err := s.Fork()
	require.NoError(t, err)
	require.Equal(t, s.Logits(), f.Logits())
	require.NoError(t, f.Close())
}
