package soft_test

import (
	"hash/fnv"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
)

// TestRandom checks means, deviations and ranges, and which evaluations have equal numbers.
func TestRandom(t *testing.T) {
	const n = 1 << 14
	for call, want := range map[string]struct{ mean, deviation, lo, hi float64 }{
		"random_uniform(shape = s, low = fp16(-1), high = fp16(3)": {1,
			4 / math.Sqrt(12), -1, 3},
		"random_normal(shape = s, mean = fp16(2), stddev = fp16(0.5)": {2, 0.5,
			-3, 7},
		"random_bernoulli(shape = s, prob = fp16(0.25)": {0.25,
			math.Sqrt(0.25 * 0.75), 0, 1.1},
		`random_categorical(x = tensor<fp16, [3]>([0.5, 0, 0.5]), mode = string("probs"), size = int32(16384)`: {1, 1,
			0, 2.1},
		`random_categorical(x = tensor<fp16, [3]>([-20, 4, 4]), size = int32(16384)`: {1.5,
			0.5, 1, 2.1},
	} {
		for _, seed := range []string{"", ", seed = int32(7)"} {
			s := openStateful(t, "program(1.3)\n{\nfunc main<ios18>() {\ntensor<int32, [1]> s = const()[val = "+
				"tensor<int32, [1]>("+
				"[16384])];\ntensor<fp16, [16384]> y = "+call+seed+");\n} -> (y);\n}")
			first := s.run(nil, "y")
			sum, squares := 0.0, 0.0
			for i := range n {
				v := load(mil.FP16, first[2*i:])
				require.True(t, v >= want.lo && v < want.hi, "%s: %v", call, v)
				sum, squares = sum+v, squares+v*v
			}
			mean := sum / n
			require.InDelta(t, want.mean, mean, 0.04, call)
			require.InDelta(t, want.deviation, math.Sqrt(squares/n-mean*mean), 0.04, call)
			second := s.run(nil, "y")
			require.Equal(t, seed != "", string(first) == string(second), call)
			require.NoError(t, s.m.Unload(t.Context()))
			require.NoError(t, s.m.Load(t.Context()))
			require.Equal(t, first, s.run(nil, "y"), "a new load repeats the numbers")
			s.close()
		}
	}
}

// words is SplitMix64: word k of a seed.
func words(seed uint64, k int) uint64 {
	z := seed + uint64(k+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// TestRandomNumbers compares the numbers of a seed with their definition: element i comes from words 2i and 2i+1.
func TestRandomNumbers(t *testing.T) {
	const n, seed = 1500, 7
	unit := func(k int) float64 { return float64(words(seed, k)>>11) / (1 << 53) }
	for call, want := range map[string]func(i int) float64{
		"random_uniform(shape = s, low = fp32(-1), high = fp32(3)": func(i int) float64 { return 4*unit(2*i) - 1 },
		"random_normal(shape = s, mean = fp32(2), stddev = fp32(3)": func(i int) float64 {
			return 2 + 3*math.Sqrt(-2*math.Log1p(-unit(2*i)))*math.Cos(2*math.Pi*unit(2*i+1))
		},
		"random_bernoulli(shape = s, prob = fp32(0.25)": func(i int) float64 {
			if unit(2*i) < 0.25 {
				return 1
			}
			return 0
		},
		// The exponential of any of these overflows.
		"random_categorical(x = tensor<fp32, [3]>([60000, 60000, 59000]), size = int32(1500)": func(i int) float64 {
			return math.Floor(2 * unit(2*i))
		},
	} {
		got := evaluate(t, "program(1.3)\n{\nfunc main<ios18>() {\ntensor<int32, [1]> s = const()[val = "+
			"tensor<int32, [1]>([1500])];\n"+"tensor<fp32, [1500]> y = "+call+", seed = int32(7));\n} -> (y);\n}",
			nil)["y"]
		for i := range n {
			require.InDelta(t, want(i), load(mil.FP32, got[4*i:]), 1e-6, "%s: element %d", call, i)
		}
	}
}

// TestSeedsOfEvaluations: without a seed the numbers come from the name of the result and the evaluations before.
func TestSeedsOfEvaluations(t *testing.T) {
	s := openStateful(t, "program(1.3)\n{\nfunc main<ios18>() {\ntensor<fp32, [32]> y = random_uniform(shape = "+
		"tensor<int32, [1]>([32]), low = fp32(0), high = fp32(1));\n} -> (y);\n}")
	defer s.close()
	h := fnv.New64a()
	_, _ = h.Write([]byte("y"))
	for round := range 3 {
		got, seed := s.run(nil, "y"), words(h.Sum64(), round-1)
		for i := range 32 {
			require.InDelta(t, float64(words(seed, 2*i)>>11)/(1<<53), load(mil.FP32, got[4*i:]), 1e-7, "element %d", i)
		}
	}
}
