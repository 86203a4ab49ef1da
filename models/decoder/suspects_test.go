package decoder

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/brokertest"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem/safetensors"
)

// trusted is a model whose matrices Load does not search. bad has the tensor with a number that is not finite.
func trusted(bad string, at int, value float64) decodertest.Spec {
	return decodertest.Spec{Hidden: 256, Intermediate: 256, KVHeads: 2, Layers: 2, Vocabulary: 300, DType: safetensors.F16,
		Family: decodertest.Llama3, Seed: 7, Weights: func(name string, values []float64) {
			if name == bad {
				values[at] = value
			}
		}}
}

// The first pass that reads a number which is not finite is refused with the tensor's name, whatever it multiplies and
// however many columns the pass has, and so are those after it. The session stays as it was.
func TestFirstTokensFindWeightsThatAreNotFinite(t *testing.T) {
	effort.SkipShort(t)
	engines := []string{engine.Soft}
	if brokertest.Here() {
		engines = append(engines, engine.Broker)
	}
	i := 0
	for _, module := range []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
		"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "lm_head"} {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			name := fmt.Sprintf("model.layers.%d.%s.weight", i%2, module)
			if module == "lm_head" {
				name = "lm_head.weight"
			}
			m := load(t, engines[i%len(engines)], written(t, trusted(name, 31*256+i, value)), WithForm(Compact),
				Context(100), Chunk(32))
			require.True(t, m.unsure.Load())
			s := begin(t, m)
			for _, tokens := range []int{1, 9, 40, 1} { // of 40 the first pass has no logits
				prompt := text(tokens, 300, uint64(i))
				err := s.Prefill(t.Context(), prompt)
				require.Error(t, err, "%s %v %d", name, value, tokens)
				one(t, err, ErrNaN, "prefill", name, fmt.Sprintf("element %d is", 31*256+i))
				require.Nil(t, s.Logits(), name)
				require.Less(t, s.Position(), max(tokens, 2), name)
				if strings.Contains(name, ".layers.0.") { // the keys of the next layer show it
					require.Zero(t, s.Position(), name)
				}
				require.NoError(t, s.Truncate(0))
			}
			i++
		}
	}
}

// Rows of zeros, such as those of a token that pads, hide a matrix: the products of columns after the first are not
// computed. Their logits are finite, but the matrices are not trusted for that.
func TestTokensOfZerosShowNoWeights(t *testing.T) {
	const name = "model.layers.1.self_attn.o_proj.weight"
	spec := trusted(name, 31*256, math.NaN())
	damage := spec.Weights
	spec.Weights = func(name string, values []float64) {
		if damage(name, values); name == "model.embed_tokens.weight" {
			clear(values[7*256 : 8*256])
		}
	}
	s := begin(t, load(t, engine.Soft, written(t, spec), WithForm(Compact), Context(100)))
	require.NoError(t, s.Prefill(t.Context(), []int{7, 7, 7}))
	one(t, s.Step(t.Context(), 5), ErrNaN, "step", name)
	require.Equal(t, 3, s.Position())
}

func written(t *testing.T, s decodertest.Spec) string {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, s)
	require.NoError(t, err)
	return dir
}

// A row of the embedding is looked at whenever a token takes it, also in a model whose weights are known to be finite.
func TestRowsOfTheEmbeddingThatAreNotFinite(t *testing.T) {
	for _, dtype := range []safetensors.DType{safetensors.F16, safetensors.F32} {
		spec := trusted("model.embed_tokens.weight", 200*256+3, math.Inf(1))
		spec.DType = dtype
		s := begin(t, load(t, engine.Soft, written(t, spec), WithForm(Compact), Context(100)))
		require.NoError(t, s.Prefill(t.Context(), []int{1, 2}))
		require.NoError(t, s.Step(t.Context(), 3))
		require.False(t, s.model.unsure.Load())
		one(t, s.Prefill(t.Context(), []int{200, 4}), ErrNaN, "model.embed_tokens.weight", fmt.Sprint(200*256+3))
		one(t, s.Step(t.Context(), 200), ErrNaN, "step", "model.embed_tokens.weight")
		require.Equal(t, 3, s.Position())
		require.NoError(t, s.Step(t.Context(), 5))
	}
}

// Results that are infinite for other reasons are those that they were: the weights are searched once.
func TestInfiniteResultsOfFiniteWeights(t *testing.T) {
	s := begin(t, load(t, engine.Soft, written(t, trusted("model.layers.1.self_attn.v_proj.weight", 5, 65504)),
		WithForm(Compact), Context(100)))
	s.suspects = true
	require.NoError(t, s.look("step", 1, false))
	require.False(t, s.model.unsure.Load())
	require.NoError(t, s.Step(t.Context(), 5))
}

// Where infinity is a number, and in the forms of engines, Load searches all matrices.
func TestLoadSearchesWhereInfinityIsANumber(t *testing.T) {
	const name = "model.layers.1.mlp.up_proj.weight"
	dir := written(t, trusted(name, 9, math.Inf(1)))
	for form, opts := range map[Form][]engine.Option{Compact: {engine.Numerics(chip.M1)}, Engine: nil} {
		d, err := engine.Open(t.Context(), engine.Soft, opts...)
		require.NoError(t, err)
		f, err := Open(dir)
		require.NoError(t, err)
		_, err = Load(t.Context(), d, f, WithForm(form), Context(64))
		one(t, err, ErrNaN, "load", name)
		require.NoError(t, f.Close())
		require.NoError(t, d.Close())
	}
}

// BenchmarkLoad is of 32 MB of fp16. The floor maps its pages. On an EPYC of family 25 llama.cpp loads 443 MB in 30 ms,
// of which it maps pages for 20; Load took 54 ms while it looked for numbers that are not finite, and takes 25.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Hidden: 512, Intermediate: 1408, Layers: 4, Heads: 8, KVHeads: 4,
		Vocabulary: 8000, DType: safetensors.F16, Family: decodertest.Llama3, Tied: true})
	require.NoError(b, err)
	d, err := engine.Open(b.Context(), engine.Soft)
	require.NoError(b, err)
	defer func() { require.NoError(b, d.Close()) }()
	opened := func(b *testing.B, do func(f *Folder)) {
		for b.Loop() {
			f, err := Open(dir)
			require.NoError(b, err)
			b.SetBytes(f.Bytes())
			do(f)
			require.NoError(b, f.Close())
		}
	}
	b.Run("load", func(b *testing.B) {
		opened(b, func(f *Folder) {
			m, err := Load(b.Context(), d, f, WithForm(Compact), Context(512))
			require.NoError(b, err)
			require.NoError(b, m.Close(context.Background()))
		})
	})
	b.Run("floor", func(b *testing.B) {
		m := &Model{}
		opened(b, func(f *Folder) {
			m.folder = f
			for _, w := range f.weights {
				require.NoError(b, m.populate(b.Context(), w.data))
			}
		})
	})
}
