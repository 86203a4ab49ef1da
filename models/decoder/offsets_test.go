package decoder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/unimem"
)

// Offsets are made in memory that does not grow with the matrix: buffers for every row cost more than the numbers.
func TestOffsetsAllocateLittle(t *testing.T) {
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Hidden: 128, Vocabulary: 1 << 15, Layers: 1, Bits: 4, Seed: 1})
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	defer f.Close()
	memory, err := unimem.Start(0, unimem.InBlocks(weightBlock))
	require.NoError(t, err)
	defer memory.Close()
	s := &store{folder: f, memory: memory}
	w := f.weights[embedding]
	require.Positive(t, w.bits)
	require.Less(t, testing.AllocsPerRun(1, func() {
		_, fine, err := s.offsets(w)
		require.NoError(t, err)
		require.True(t, fine)
	}), float64(flat(w.scales, w.out, w.in/w.group).out), "for each row that is read")
}
