package soft_test

import (
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
