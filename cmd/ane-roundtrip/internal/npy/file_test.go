package npy

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadOpen(t *testing.T) {
	dir := t.TempDir()
	whole, cut := filepath.Join(dir, "whole.npy"), filepath.Join(dir, "cut.npy")
	require.NoError(t, os.WriteFile(whole, []byte(golden[0].want), 0o600))
	require.NoError(t, os.WriteFile(cut, []byte(golden[0].want[:130]), 0o600))
	sparse := filepath.Join(dir, "sparse.npy")
	require.NoError(t, os.WriteFile(sparse, file(1, dict("|i1", "False", "(1099511627776,)"), ""), 0o600))
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Logf("no sparse file of 1 TiB here (%v): the claim is refused all the same", err)
	}
	read := func(path string) (*Array, error) {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		return ReadOpen(f, path, nil)
	}
	got, err := read(whole)
	require.NoError(t, err)
	require.Equal(t, &golden[0].a, got)
	for path, want := range map[string]string{
		dir:    "is a folder; name a .npy file",
		cut:    "byte 130: the file ends within 8 bytes of data ([1 2 1 2] of float16)",
		sparse: "more than 4294967296 bytes of data; save a smaller array",
	} {
		_, err := read(path)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, path, e.File)
		require.ErrorContains(t, err, path+": ")
		require.ErrorContains(t, err, want)
	}
	f, err := os.Open(whole)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, err = ReadOpen(f, whole, nil)
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorContains(t, err, whole+": cannot read the file: ")
}

// The reader of a pipe does not know the size.
func TestReadPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	a := large()
	written := make(chan error, 1)
	go func() { written <- Write(w, a); w.Close() }()
	got, err := ReadOpen(r, "pipe", nil)
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.Equal(t, a.Shape, got.Shape)
	require.True(t, bytes.Equal(a.Data, got.Data))
}
