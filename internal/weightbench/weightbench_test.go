package weightbench_test

import (
	"encoding/xml"
	"io"
	"path/filepath"
	"strings"
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
	for _, cold := range []bool{false, weightbench.CanDrop()} {
		l, err := weightbench.Load(t.Context(), path, cold, 1)
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
	grown, err := weightbench.Reserve(0)
	require.NoError(t, err)
	flat, err := weightbench.Reserve(2048)
	require.NoError(t, err)
	first, last := grown.Steps[0].Bytes, grown.Steps[len(grown.Steps)-1].Bytes
	require.Less(t, first, last)
	require.Positive(t, grown.Copied)
	require.Zero(t, flat.Copied)
	for _, p := range flat.Steps {
		require.Equal(t, flat.Bytes, p.Bytes)
	}
}

func TestPaper(t *testing.T) {
	require.Len(t, weightbench.Variants(), 8)
	for _, v := range weightbench.Variants() {
		require.InDelta(t, v.Speedup, float64(v.Load[0]/v.Load[1]), 0.11, v.Model)
	}
	require.Len(t, weightbench.Reservations(), 9)
}

func TestPlotIsXML(t *testing.T) {
	text := weightbench.Plot("t", "x", "y", true, []weightbench.Line{{Name: "a", X: []float64{1, 10},
		Y: []float64{2, 3}}})
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	require.Contains(t, text, "polyline")
}
