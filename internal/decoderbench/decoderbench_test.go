package decoderbench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/models/decoder"
)

// A test run that leaks fails, even if its tests pass.
func TestMain(m *testing.M) { leaktest.Main(m) }

func TestMeasure(t *testing.T) {
	s, ok := Find("tiny")
	require.True(t, ok)
	dir := t.TempDir()
	require.NoError(t, Make(dir, s))
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer d.Close()
	said := map[string]bool{}
	r, err := Measure(t.Context(), d, s, Plan{Dir: dir, Form: decoder.Compact, Steps: 3, Prompt: 40,
		Restore: []int{24, 100}, Rounds: 2}, func(what string) { said[what] = true })
	require.NoError(t, err)
	require.True(t, said["restore 100 tokens"])
	require.Positive(t, r.Load)
	require.Positive(t, r.Step)
	require.Positive(t, r.ReadFloor)
	require.Positive(t, r.PromptFloor)
	require.InDelta(t, float64(s.Products(40))/r.Prefill.Seconds(), r.Products, r.Products/1000)
	require.Len(t, r.Restores, 2)
	for i, row := range r.Restores {
		require.True(t, row.Same, "a restored conversation goes on with the same bits")
		require.Greater(t, row.Bytes, int64(row.Tokens*keyBytes(s)))
		require.Equal(t, []int{24, 100}[i], row.Tokens)
	}
	require.Len(t, r.Keys, 6)
	require.Zero(t, r.Keys[2].Copied, "a reserved cache does not move")
	require.Positive(t, r.Keys[5].Copied)
	require.NoFileExists(t, dir+"/bench.kv")
}

// keyBytes is the size of the keys and values of a token in fp16.
func keyBytes(s Shape) int { return 2 * s.Layers * s.KVHeads * s.HeadDim * 2 }

// The shape has the size that is published for it: 695 MB in groups of 64 weights of 4 bits.
func TestShapes(t *testing.T) {
	s, ok := Find("llama-3.2-1b")
	require.True(t, ok)
	weights := s.Products(1) // the embedding is the matrix of the logits
	bytes := weights/2 + weights/int64(s.Group)*4
	require.InDelta(t, 695e6, bytes, 1e6)
	require.Equal(t, 32<<10, keyBytes(s))
	require.Equal(t, int64(128256*2048), 2*s.Products(1)-s.Products(2), "the logits are those of the last token")
	_, ok = Find("huge")
	require.False(t, ok)

	tiny, _ := Find("tiny")
	dir := t.TempDir()
	require.NoError(t, Make(dir, tiny))
	folder, err := decoder.Open(dir)
	require.NoError(t, err)
	require.NoError(t, folder.Close())
	require.Error(t, Make(dir+"/none", tiny))
}

// A growing cache is a staircase, a reserved one a flat line.
func TestReserve(t *testing.T) {
	all, err := Reserve(t.Context(), 0, 2048)
	require.NoError(t, err)
	grown, flat := all[0], all[1]
	require.Zero(t, grown.Delta)
	require.Equal(t, flat.Bytes-grown.Bytes, flat.Delta)
	first, last := grown.Steps[0].Bytes, grown.Steps[len(grown.Steps)-1].Bytes
	require.Less(t, first, last)
	require.Positive(t, grown.Copied)
	require.Zero(t, flat.Copied)
	for _, p := range flat.Steps {
		require.Equal(t, flat.Bytes, p.Bytes)
	}
}
