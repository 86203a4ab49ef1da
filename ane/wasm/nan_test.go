package wasm_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
)

// Logits of which none is a number have no token: the guest gets a code, and its reason.
func TestLogitsThatAreNoNumbers(t *testing.T) {
	r := newRig(t, road{engine: engine.Soft, align: 16384, host: []wasm.Option{wasm.Sampling(
		func(float64, float64, uint64) (wasm.Sampler, error) { return numbersOnly{}, nil })}})
	g := r.start("calls.wasm", wasm.Limits{})
	results, err := g.Call(t.Context(), "sampler_open", 0, uint64(math.Float32bits(1)), 0)
	require.NoError(t, err)
	b, err := g.Memory().Range(4096, 32)
	require.NoError(t, err)
	for i := range 8 {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(math.NaN())))
	}
	g.refused(wasm.CodeArgument, "sample", int(results[0]), 4096, 8, 32)
	require.Contains(t, g.lastError(), "no logit is a number")
}

// numbersOnly returns a negative index where no logit is a number, as the sampler of models/decoder does.
type numbersOnly struct{}

func (numbersOnly) Next(logits []float32) int {
	for i, v := range logits {
		if v == v {
			return i
		}
	}
	return -1
}
