package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem/safetensors"
)

// A header of 100 MB has millions of entries: weights check keeps neither metadata nor a row for each tensor unless a
// report has them.
func TestCheckOfWeightsKeepsNoEntryThatItDoesNotPrint(t *testing.T) {
	const entries = 20_000
	metadata := map[string]string{}
	var names []string
	for i := range entries {
		metadata[fmt.Sprint("key", i)] = fmt.Sprint("value", i)
		names = append(names, fmt.Sprint("t", i))
	}
	allocations := func(metadata map[string]string, names []string, args ...string) float64 {
		path := filepath.Join(t.TempDir(), "many.safetensors")
		w, err := safetensors.Create(path, metadata, safetensors.NoSync())
		require.NoError(t, err)
		for _, name := range names {
			require.NoError(t, w.Add(name, safetensors.U8, []int{1}, []byte{1}))
		}
		require.NoError(t, w.Close())
		return testing.AllocsPerRun(1, func() {
			var out, errw bytes.Buffer
			require.Zero(t, execute(t.Context(), append(args, path), &out, &errw), "%s", &errw)
		})
	}
	few := allocations(nil, nil, "weights", "check")
	require.Less(t, allocations(metadata, nil, "weights", "check")-few, entries/10.)
	require.Less(t, allocations(metadata, nil, "weights")-few, entries/10.)
	require.Less(t, allocations(nil, names, "weights", "check")-few, entries*2.5) // reading a tensor makes two
	require.Greater(t, allocations(metadata, nil, "weights", "check", "--json")-few, entries/1.)
}
