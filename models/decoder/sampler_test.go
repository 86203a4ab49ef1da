package decoder

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/fp16"
)

func sampler(t rapid.TB, temperature, topP float64, seed uint64) *Sampler {
	s, err := NewSampler(temperature, topP, seed)
	require.NoError(t, err)
	return s
}

func TestGreedyTakesTheFirstOfTheLargest(t *testing.T) {
	s := sampler(t, 0, 1, 0)
	nan := float32(math.NaN())
	require.Equal(t, 2, s.Next([]float32{nan, 1, 3, 3, nan, -1}))
	require.Equal(t, 1, s.Next([]float32{float32(math.Inf(-1)), -5}))
	require.Equal(t, 1, s.Next([]float32{4, float32(math.Inf(1)), float32(math.Inf(1))}))
	require.Equal(t, -1, s.Next(nil))
	require.Equal(t, -1, s.Next([]float32{nan, nan}))
	before := s.marshal()
	s.Next([]float32{1, 2, 3})
	require.Equal(t, before, s.marshal(), "greedy draws nothing")
}

// frequencies draws n times.
func frequencies(s *Sampler, logits []float32, n int) []float64 {
	f := make([]float64, len(logits))
	for range n {
		f[s.Next(logits)] += 1 / float64(n)
	}
	return f
}

func TestFrequenciesAreTheProbabilities(t *testing.T) {
	logits := []float32{0, 1, 2, -3, float32(math.NaN()), float32(math.Inf(-1))}
	const n = 200000
	for _, temperature := range []float64{0.5, 1, 3} {
		sum := 0.0
		for _, v := range logits[:4] {
			sum += math.Exp(float64(v) / temperature)
		}
		for i, f := range frequencies(sampler(t, temperature, 1, 7), logits, n) {
			p := 0.0
			if i < 4 {
				p = math.Exp(float64(logits[i])/temperature) / sum
			}
			require.InDelta(t, p, f, 5*math.Sqrt(p*(1-p)/n)+1e-12, "temperature %v, token %d", temperature, i)
		}
	}
}

// At temperature 1 the probabilities 0.5, 0.25, 0.15, 0.1 and top-p 0.6 keep two tokens. At temperature 4 the same
// logits are nearly equal, and top-p 0.6 keeps three: only if the temperature comes first.
func TestTemperatureComesBeforeTopP(t *testing.T) {
	var logits []float32
	for _, p := range []float64{0.15, 0.5, 0.1, 0.25} {
		logits = append(logits, float32(math.Log(p)))
	}
	kept := func(temperature, topP float64) (all []int) {
		for i, f := range frequencies(sampler(t, temperature, topP, 1), logits, 4000) {
			if f > 0 {
				all = append(all, i)
			}
		}
		return all
	}
	require.Equal(t, []int{1, 3}, kept(1, 0.6))
	require.Equal(t, []int{0, 1, 3}, kept(4, 0.6))
	require.Equal(t, []int{1}, kept(1, 0.01), "at least one token is kept")
	require.Equal(t, []int{0, 1, 2, 3}, kept(1, 1))
	f := frequencies(sampler(t, 1, 0.6, 3), logits, 100000)
	require.InDelta(t, 2.0/3, f[1], 0.01, "the kept ones share the whole")
}

// The bound below which tokens are not even sorted leaves no token of the most probable ones out.
func TestTopPAgainstAWholeSort(t *testing.T) {
	levels := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 11), func(n int) float32 { return float32(n) / 2 }), 1, 60)
	rapid.Check(t, func(t *rapid.T) {
		logits := levels.Draw(t, "logits")
		topP := rapid.Float64Range(0.05, 0.99).Draw(t, "top-p")
		temperature := rapid.Float64Range(0.3, 1.3).Draw(t, "temperature")
		order, w, sum := make([]int, len(logits)), make([]float64, len(logits)), 0.0
		for i, v := range logits {
			order[i], w[i] = i, math.Exp(float64(v)/temperature)
			sum += w[i]
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(2 * (logits[b] - logits[a])) })
		may, must := map[int]bool{}, map[int]bool{} // they differ where a sum is the bound itself
		for all, k := 0.0, 0; k < len(order) && all < (topP+1e-9)*sum; k++ {
			may[order[k]], must[order[k]] = true, all < (topP-1e-9)*sum
			all += w[order[k]]
		}
		for i, f := range frequencies(sampler(t, temperature, topP, rapid.Uint64().Draw(t, "seed")), logits, 2000) {
			require.True(t, f == 0 || may[i], "token %d of %v at top-p %v", i, logits, topP)
			require.False(t, f == 0 && must[i] && w[i] > 0.02*sum, "token %d of %v at top-p %v", i, logits,
				topP)
		}
	})
}

func TestSamplerGoesOnWhereItWas(t *testing.T) {
	logits := make([]float32, 100)
	for i := range logits {
		logits[i] = float32(i%7) / 3
	}
	a, b := sampler(t, 0.8, 0.9, 42), sampler(t, 0.8, 0.9, 42)
	var whole []int
	for range 50 {
		whole = append(whole, a.Next(logits))
	}
	for range 20 {
		b.Next(logits)
	}
	state := b.marshal()
	c, err := unmarshalSampler(state)
	require.NoError(t, err)
	for i := 20; i < 50; i++ {
		require.Equal(t, whole[i], c.Next(logits))
	}
	require.Equal(t, []int{60, 32, 76, 40, 68, 27, 18, 32}, whole[:8], "on every machine")
	for n := range state {
		_, err := unmarshalSampler(state[:n])
		require.ErrorIs(t, err, ErrSampler)
	}
	temperature, topP, seed := c.Settings()
	require.Equal(t, []any{0.8, 0.9, uint64(42)}, []any{temperature, topP, seed})
}

func TestSettingsThatAreRefused(t *testing.T) {
	for _, v := range [][2]float64{{-1, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, 0}, {1, 1.1}, {1, math.NaN()}} {
		_, err := NewSampler(v[0], v[1], 0)
		require.ErrorIs(t, err, ErrSampler, "%v", v)
	}
}

func TestExpHasFewUlps(t *testing.T) {
	for x := 0.0; x > -740; x -= 0.0137 {
		want := math.Exp(x)
		require.InEpsilon(t, want, exp(x), 1e-15+5e-324/want, "exp(%v)", x)
	}
	require.Equal(t, 1.0, exp(0))
	require.Zero(t, exp(math.Inf(-1)))
	require.Zero(t, exp(-1000))
}

// Logits in place, in several parts and with other numbers between them, have the greatest where a list has it.
func TestGreedyInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		h := inPlace{rows: 5, n: 12 + r.IntN(4), room: make([]float32, 3)}
		stride := 2 + r.IntN(2)*62
		for range 3 {
			h.parts = append(h.parts, column{make([]byte, 5*stride), stride})
		}
		var list []float32
		for i := range h.n {
			v := fp16.FromFloat64(r.NormFloat64())
			if r.IntN(4) == 0 {
				v = []fp16.Bits{fp16.NaN, fp16.Inf, 0xfc00}[r.IntN(3)]
			}
			binary.LittleEndian.PutUint16(h.parts[i/5].bytes[i%5*stride:], uint16(v))
			list = append(list, v.Float32())
		}
		require.Equal(t, choose(nil, floats(list)), choose(nil, h), list)
	}
}
