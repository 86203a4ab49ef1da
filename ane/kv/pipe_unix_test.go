//go:build unix

package kv_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/kv"
)

// A pipe without a writer is no snapshot: opening it would wait for one.
func TestPipeIsNoSnapshot(t *testing.T) {
	c, err := kv.New(kv.Config{Layers: 1, Heads: 1, HeadDim: 1, Context: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for name, call := range map[string]func() error{
		"restore": func() error { return c.RestoreFile(path, kv.Fingerprint{}) },
		"check":   func() error { _, err := kv.CheckFile(path); return err },
		"save":    func() error { return c.SaveFile(path, kv.Fingerprint{}) },
		"note":    func() error { _, _, err := kv.NoteFile(path); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			require.Error(t, err, name)
			want := kv.ErrCorrupt
			if name == "save" {
				want = os.ErrExist
			}
			require.ErrorIs(t, err, want, name)
		case <-time.After(time.Minute):
			t.Fatalf("%s waits for a writer", name)
		}
	}
}
