package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/weights"
	"github.com/anekit/anekit/unimem/safetensors"
)

// A header of 100 MB has millions of entries: weights check keeps neither metadata nor a row for each tensor unless a
// report has them.
func TestCheckOfWeightsKeepsNoEntryThatItDoesNotPrint(t *testing.T) {
	const entries = 20_000
	metadata := map[string]string{}
	var items []safetensors.Item
	for i := range entries {
		metadata[fmt.Sprint("key", i)] = fmt.Sprint("value", i)
		items = append(items, safetensors.Item{Name: fmt.Sprint("t", i), DType: safetensors.U8, Shape: []int{1},
			Data: []byte{byte(i)}})
	}
	allocations := func(metadata map[string]string, items []safetensors.Item, args ...string) float64 {
		path := filepath.Join(t.TempDir(), "many.safetensors")
		w, err := safetensors.Create(path, metadata, safetensors.NoSync())
		require.NoError(t, err)
		for _, i := range items {
			require.NoError(t, w.Add(i.Name, i.DType, i.Shape, i.Data))
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
	require.Less(t, allocations(nil, items, "weights", "check")-few, entries*2.5) // reading a tensor makes two
	require.Greater(t, allocations(metadata, nil, "weights", "check", "--json")-few, entries/1.)
}

// What the system says of OUT has the hint of all outputs, whichever call met it; what it says of IN has none of them.
func TestUnpacked(t *testing.T) {
	of := func(op, file string, system syscall.Errno) error {
		return weights.Unpacked("out", &safetensors.Error{Op: op, File: file, Offset: -1, Err: system})
	}
	for _, op := range []string{"write", "repack"} {
		err := of(op, "out", syscall.ENOSPC)
		require.EqualError(t, err, "out: no space left on device; free space there, or name another file")
		require.Equal(t, cli.CodeFail, cli.ExitCode(t.Context(), err))
	}
	err := of("create", "out", syscall.EACCES)
	require.EqualError(t, err, "OUT: out: permission denied; name a file in a folder that exists and can be written")
	require.Equal(t, cli.CodeUsage, cli.ExitCode(t.Context(), err))
	require.Empty(t, cli.ErrorHint(of("repack", "in", syscall.EIO)))
}
