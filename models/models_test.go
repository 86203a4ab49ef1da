package models_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

func TestModelsMeetTheirReferenceOnTheSoftwareEngine(t *testing.T) {
	all, err := models.All()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 11)
	for _, f := range models.Filters() {
		m, err := f.Model(3, 9, 14)
		require.NoError(t, err)
		all = append(all, m)
	}
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) { compare(t, m) })
	}
	require.Zero(t, unimem.Live().Blocks, "a test left a Block open")
}

// compare runs m on a few inputs and compares every output with the reference.
func compare(t *testing.T, m models.Model) {
	ctx := t.Context()
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	model, err := d.Compile(ctx, ane.Source{File: m.Name, Text: m.Text, Weights: m.Weights})
	require.NoError(t, err, "%s", m.Text)
	require.NoError(t, model.Load(ctx))
	in, inBlocks := tensors(t, model.Inputs())
	out, outBlocks := tensors(t, model.Outputs())
	r, err := model.Bind(in, out)
	require.NoError(t, err)
	for seed := range uint64(3) {
		values := map[string][]float64{}
		for name, x := range in {
			values[name] = m.Input(name, x.Layout().Elements(), seed)
			singles := make([]float32, len(values[name]))
			for i, v := range values[name] {
				require.Equal(t, v, float64(fp16.FromFloat64(v).Float32()), "inputs are exact in fp16")
				singles[i] = float32(v)
			}
			_, err := x.WriteFloat32(singles)
			require.NoError(t, err)
		}
		_, err = model.Evaluate(ctx, r)
		require.NoError(t, err)
		want := m.Reference(values)
		require.Len(t, want, len(out))
		for name, y := range out {
			got := make([]float32, y.Layout().Elements())
			_, err := y.ReadFloat32(got)
			require.NoError(t, err)
			require.Len(t, want[name], len(got))
			for i, g := range got {
				require.True(t, m.Tolerance.Allows(float64(g), want[name][i]), "%s[%d] = %v, want %v", name, i, g,
					want[name][i])
			}
		}
	}
	require.NotEmpty(t, m.Tolerance.Reason)
	require.NoError(t, r.Close())
	require.NoError(t, model.Close(ctx))
	require.NoError(t, d.Close())
	for _, b := range append(inBlocks, outBlocks...) {
		require.NoError(t, b.Close())
	}
}

func tensors(t *testing.T, layouts []ane.Layout) (map[string]*ane.Tensor, []*unimem.Block) {
	named, blocks := map[string]*ane.Tensor{}, []*unimem.Block{}
	for _, l := range layouts {
		b, err := unimem.Open(l.Bytes())
		require.NoError(t, err)
		named[l.Name], err = ane.OnBlock(b, l)
		require.NoError(t, err)
		blocks = append(blocks, b)
	}
	return named, blocks
}

func TestInputsDependOnSeedAndNameAlone(t *testing.T) {
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		require.Equal(t, m.Input("x", 99, 7), m.Input("x", 99, 7))
		require.NotEqual(t, m.Input("x", 99, 7), m.Input("x", 99, 8))
		require.NotEqual(t, m.Input("x", 99, 7), m.Input("y", 99, 7))
	}
}

func TestToleranceRefusesWrongValues(t *testing.T) {
	tol := models.Tolerance{Abs: 0.5, Rel: 0.1}
	require.True(t, tol.Allows(11.4, 10))
	require.False(t, tol.Allows(11.6, 10))
	require.False(t, tol.Allows(math.NaN(), 10))
	require.False(t, tol.Allows(10, math.NaN()))
	require.False(t, tol.Allows(math.Inf(1), 10))
}

func TestFilters(t *testing.T) {
	for _, f := range models.Filters() {
		m, err := f.Model(1, 4, 5)
		require.NoError(t, err)
		flat := make([]float64, 6*7)
		for i := range flat {
			flat[i] = 0.25
		}
		want := 0.25 // the filter does not change a flat picture, or finds no edges
		if f.Name == "edge" || f.Name == "sobel" {
			want = 0
		}
		for _, v := range m.Reference(map[string][]float64{"x": flat})["y"] {
			require.InDelta(t, want, v, 1e-12, f.Name)
		}
	}
	_, ok := models.FilterByName("no such filter")
	require.False(t, ok)
}

func TestTheLargestErrorLeavesRoom(t *testing.T) {
	// The references are independent of the engine. This checks that the tolerance
	// does not accept every result.
	all, err := models.All()
	require.NoError(t, err)
	for _, m := range all {
		require.Less(t, m.Tolerance.Abs, 0.02, m.Name)
		require.Less(t, m.Tolerance.Rel, 0.02, m.Name)
	}
}
