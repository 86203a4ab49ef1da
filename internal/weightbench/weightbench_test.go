package weightbench_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/weightbench"
)

func TestMain(m *testing.M) {
	weightbench.ServeChild()
	leaktest.Main(m)
}

// tiny makes the tiny model.
func tiny(t *testing.T) (dir string, m weightbench.Model) {
	m, ok := weightbench.Find("tiny")
	require.True(t, ok)
	dir = t.TempDir()
	require.NoError(t, m.Make(dir))
	return dir, m
}

func TestLoad(t *testing.T) {
	dir, m := tiny(t)
	for _, cold := range []bool{false, true} {
		l, err := weightbench.Load(t.Context(), filepath.Join(dir, "model.safetensors"), m, cold, 1)
		if cold && errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "tiny", l.Name)
		require.NotEmpty(t, l.Why)
		for _, way := range weightbench.Ways() {
			require.Positive(t, l.Times[way], way)
		}
	}
}

// Both ways of loading answer in processes of their own. A growing cache is a staircase, a reserved one a flat line.
func TestTalk(t *testing.T) {
	dir, m := tiny(t)
	both, err := weightbench.Talk(t.Context(), dir, m, 1)
	require.NoError(t, err)
	require.Len(t, both, 2)
	all, err := weightbench.Grow(t.Context(), dir, m, 0, 2048)
	require.NoError(t, err)
	for _, r := range append(both, all...) {
		require.Positive(t, r.Load)
		require.Positive(t, r.First)
		require.Positive(t, r.Prompt)
		require.Positive(t, r.Generate)
		require.Equal(t, m.Name, r.Name)
	}
	require.Equal(t, []string{"read", "map"}, []string{both[0].Way, both[1].Way})
	grown, flat := all[0].Keys, all[1].Keys
	require.Equal(t, []string{"dynamic", "2048"}, []string{grown.Mode, flat.Mode})
	require.Positive(t, grown.Copied)
	require.Zero(t, flat.Copied)
	require.Equal(t, flat.Bytes-grown.Bytes, flat.Delta)
	require.Less(t, grown.Steps[0].Bytes, grown.Bytes)
	for _, p := range flat.Steps {
		require.Equal(t, flat.Bytes, p.Bytes)
	}
	require.Error(t, func() error { _, err := weightbench.Talk(t.Context(), dir+"/none", m, 1); return err }())
}

// Cells of the table by which Auto decides. A read that a control group has no room for is killed, and Auto maps.
func TestChoose(t *testing.T) {
	leaktest.SkipEmulated(t)
	const size = 64 << 20
	for _, c := range []weightbench.Cell{{Size: size, Resident: 1, Pressure: weightbench.None},
		{Size: size, Pressure: weightbench.Beyond}} {
		r, err := weightbench.Choose(t.Context(), t.TempDir(), c, 1)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("only Linux reports the pages of a mapping, and limits the memory of a group: ", err)
		}
		require.NoError(t, err)
		require.Positive(t, r.Times["map"])
		require.Positive(t, r.Times["auto"])
		require.GreaterOrEqual(t, r.Regret, 1.)
		if c.Pressure == weightbench.Beyond {
			require.Zero(t, r.Times["read"])
			require.True(t, r.Mapped, r.Why)
			require.Contains(t, r.Why, "the system has")
		}
	}
	require.Len(t, weightbench.Cells([]int64{1, 2, 3}), 18)
}

// Layers give way first, then the vocabulary.
func TestScaled(t *testing.T) {
	m, ok := weightbench.Find("qwen3-14b-8bit")
	require.True(t, ok)
	require.Equal(t, 40, m.Scaled(1<<40).Layers)
	part := m.Scaled(4 << 30)
	require.Less(t, part.Layers, 40)
	require.Greater(t, part.Layers, 1)
	require.Equal(t, 151936, part.Vocabulary)
	least := m.Scaled(1 << 30)
	require.Equal(t, 1, least.Layers)
	require.Less(t, least.Vocabulary, 151936)
	require.Len(t, weightbench.Models(), 13)
	_, ok = weightbench.Find("qwen3-32b")
	require.False(t, ok)
}

func TestPaper(t *testing.T) {
	var variants []struct {
		Load    [2]float64 `json:"load_ns"`
		Speedup float64
	}
	require.NoError(t, json.Unmarshal(weightbench.Published().Variants, &variants))
	require.Len(t, variants, 8)
	for _, v := range variants {
		require.InDelta(t, v.Speedup, v.Load[0]/v.Load[1], 0.11)
	}
	var reserve []any
	require.NoError(t, json.Unmarshal(weightbench.Published().Reserve, &reserve))
	require.Len(t, reserve, 9)
}

func TestSizesHaveRoom(t *testing.T) {
	require.EqualValues(t, 255<<20, weightbench.Limit(t.TempDir(), 255<<20, 1<<40))
	require.EqualValues(t, 63<<20, weightbench.Limit(t.TempDir(), 255<<20, 252<<20))
	require.Equal(t, []int64{64 << 20}, weightbench.Sizes(255<<20))
	require.Equal(t, []int64{64 << 20, 256 << 20, 1 << 30}, weightbench.Sizes(2<<30))
	require.Empty(t, weightbench.Sizes(63<<20))
}
