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
		"append":  func() error { return c.AppendFile(path, kv.Fingerprint{}) },
		"fold":    func() error { return kv.FoldFile(path) },
		"save":    func() error { return c.SaveFile(path, kv.Fingerprint{}) },
		"note":    func() error { _, _, err := kv.NoteFile(path); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			require.Error(t, err, name)
			switch name {
			case "append": // which has no tokens of it
			case "save":
				require.ErrorIs(t, err, os.ErrExist)
			default:
				require.ErrorIs(t, err, kv.ErrCorrupt, name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s waits for a writer", name)
		}
	}
}
