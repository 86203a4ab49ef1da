package decoder

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/unimem/safetensors"
)

// open writes a model and loads it. Everything is closed at the end of the test.
func open(t testing.TB, engineName string, s decodertest.Spec, opts ...Option) (*decodertest.Model, *Model) {
	t.Helper()
	dir := t.TempDir()
	want, err := decodertest.Write(dir, s)
	require.NoError(t, err)
	return want, load(t, engineName, dir, opts...)
}

func load(t testing.TB, engineName, dir string, opts ...Option) *Model {
	t.Helper()
	d, err := engine.Open(t.Context(), engineName)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	f, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	m, err := Load(t.Context(), d, f, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	return m
}

func begin(t testing.TB, m *Model) *Session {
	t.Helper()
	s, err := m.NewSession()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// text returns n tokens of a vocabulary.
func text(n, vocabulary int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 5))
	tokens := make([]int, n)
	for i := range tokens {
		tokens[i] = r.IntN(vocabulary)
	}
	return tokens
}

// most returns the greatest difference of logits from the reference, and the index of the highest.
func most(got []float32, want []float64) (difference float64, best int) {
	for i, v := range got {
		difference = math.Max(difference, math.Abs(float64(v)-want[i]))
		if math.IsNaN(float64(v)) {
			difference = math.Inf(1)
		}
		if v > got[best] {
			best = i
		}
	}
	return difference, best
}

// top returns the index of the highest logit of the reference, and how far the second is below it.
func top(want []float64) (best int, lead float64) {
	lead = math.Inf(1)
	for i, v := range want {
		if v > want[best] {
			best = i
		}
	}
	for i, v := range want {
		if i != best {
			lead = math.Min(lead, want[best]-v)
		}
	}
	return best, lead
}

// tokensOfATest is the length of a text that is compared with the reference: two chunks, or one and a part.
func tokensOfATest() int {
	if effort.Full() {
		return 64
	}
	return 36
}

// cases are models of every family.
func cases() map[string]decodertest.Spec {
	all := map[string]decodertest.Spec{}
	for i, family := range decodertest.Families() {
		for seed := range uint64(2) {
			s := decodertest.Spec{Family: family, Seed: 10*uint64(i) + seed, Tied: seed == 1}
			s.DType = []safetensors.DType{safetensors.BF16, safetensors.F16, safetensors.F32}[(i+int(seed))%3]
			all[fmt.Sprintf("%s %v %d", family, s.DType, seed)] = s
		}
	}
	return all
}

func TestLogitsAreThoseOfTheReference(t *testing.T) {
	all := cases()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		spec := all[name]
		for f, form := range []Form{Engine, Compact} {
			if !effort.Sample(i+4*f, 24) {
				continue
			}
			t.Run(name+" "+form.String(), func(t *testing.T) {
				want, m := open(t, engine.Soft, spec, WithForm(form), Context(200), Chunk(32))
				teach(t, want, m)
			})
		}
	}
}

// teach compares the logits of every token of a text, taken step by step and in chunks, with the reference.
func teach(t *testing.T, want *decodertest.Model, m *Model) {
	t.Helper()
	tokens := text(tokensOfATest(), want.Vocabulary, want.Seed)
	logits := exact(want, tokens)
	limit := bound(want, tokens, logits)
	s := begin(t, m)
	worst, decided := 0.0, 0
	check := func(i int) {
		d, best := most(s.Logits(), logits[i])
		worst = math.Max(worst, d)
		if greedy, lead := top(logits[i]); lead > 2*limit {
			require.Equal(t, greedy, best, "token %d", i)
			decided++
		}
	}
	for i, token := range tokens {
		require.NoError(t, s.Step(t.Context(), token))
		check(i)
	}
	require.Equal(t, tokens, s.Tokens())
	require.LessOrEqual(t, worst, limit, "step by step")
	stepwise := worst
	for _, n := range []int{1, 2, 31, 32, 33, len(tokens)} {
		require.NoError(t, s.Truncate(0))
		require.NoError(t, s.Prefill(t.Context(), tokens[:n]))
		check(n - 1)
		require.LessOrEqual(t, worst, limit, "%d tokens in chunks", n)
	}
	t.Logf("worst %.2g by steps, %.2g in chunks, bound %.2g, %d greedy tokens decided", stepwise, worst, limit, decided)
	require.Greater(t, decided, len(tokens)/4)
}

var _ = ane.Must[int]
