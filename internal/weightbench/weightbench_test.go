package weightbench_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/weightbench"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// Every suite measures something on a small file.
func TestSuites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	require.NoError(t, weightbench.Make(path, 4<<20))
	for _, cold := range []bool{false, true} {
		l, err := weightbench.Load(t.Context(), path, cold, 1)
		if cold && errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		require.NoError(t, err)
		for _, way := range weightbench.Ways() {
			require.Positive(t, l.Times[way], way)
		}
	}
	d, err := ane.Open(soft.New(soft.AllowOffsets()), "")
	require.NoError(t, err)
	mapped, err := weightbench.Infer(t.Context(), d, path, weightbench.Map, 1)
	require.NoError(t, err)
	require.Zero(t, mapped.Moved, "a map is bound where it lies")
	require.Positive(t, mapped.Generate)
	read, err := weightbench.Infer(t.Context(), d, path, weightbench.Read, 1)
	require.NoError(t, err)
	require.Zero(t, read.Moved)
	require.Equal(t, mapped.Bytes, read.Bytes)
	require.NoError(t, d.Close())
}

// A growing cache is a staircase, a reserved one a flat line.
func TestReserve(t *testing.T) {
	all, err := weightbench.Reserve(t.Context(), 0, 2048)
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
	require.Equal(t, []int64{64 << 20, 128 << 20}, weightbench.Sizes(t.TempDir(), 255<<20, 1<<40))
	require.Equal(t, []int64{64 << 20}, weightbench.Sizes(t.TempDir(), 255<<20, 255<<20))
	require.Empty(t, weightbench.Sizes(t.TempDir(), 255<<20, 1<<20))
}
