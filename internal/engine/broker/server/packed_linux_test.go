//go:build !macrules

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/models"
)

// TestPackedWeightsAreChargedAsStored: a client owes the bytes of its weight file for a matrix of 4 bits, and little
// besides; expanded it would be four times as much.
func TestPackedWeightsAreChargedAsStored(t *testing.T) {
	const out, in, group = 2048, 4096, 64
	var w blob.Writer
	q, err := w.Add(mil.UInt4, make([]byte, out*in/2), 0)
	require.NoError(t, err)
	s, err := w.Add(mil.FP16, make([]byte, 2*out*in/group), 0)
	require.NoError(t, err)
	require.Equal(t, []uint64{64, 64 + 64 + out*in/2}, []uint64{q, s})
	file := w.Bytes()
	m := models.Model{Name: "packed", Weights: map[string][]byte{"@model_path/w.bin": file}, Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [1, 4096]> x) {
tensor<uint4, [2048, 4096]> q = const()[val = tensor<uint4, [2048, 4096]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))];
tensor<fp16, [2048, 64]> s = const()[val = tensor<fp16, [2048, 64]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(4194432)))];
tensor<fp16, [2048, 4096]> w = constexpr_blockwise_shift_scale(data = q, scale = s);
tensor<fp16, [1, 2048]> y = linear(x = x, weight = w);
} -> (y);
}
`)}
	b := startBroker(t, Config{process: allowance{files: 1 << 12, mappings: 1 << 14, memory: 1 << 30}})
	p := b.join(alice, "")
	_, err = p.compile(m)
	require.NoError(t, err)
	owed := p.counter(t, "own bytes of memory")
	require.GreaterOrEqual(t, owed, uint64(len(file)))
	require.Less(t, owed, uint64(len(file))*115/100)
}
