//go:build linux || darwin

package npy

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPipe stands for all that is no regular file: it must be written to, not
// replaced. It is a pipe in a folder of the test, never a device of the system,
// which a fault in the code would destroy for everybody when run as root.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	// Open for both directions, so that neither side waits for the other; the
	// array fits the buffer of the pipe.
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer pipe.Close()
	require.NoError(t, WriteFile(path, sample()))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeNamedPipe, "the pipe was replaced")
	onlyFiles(t, dir, "pipe")

	got := make([]byte, 128+4)
	_, err = pipe.Read(got)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4}, got[128:])
}
