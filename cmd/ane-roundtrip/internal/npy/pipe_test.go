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

// WriteFile has to write to a file that is not regular, not replace it. The test uses a pipe in its own
// folder: run as root, a fault could destroy a device of the system.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	// Opening the pipe for reading and writing does not block; the array fits into its buffer.
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer pipe.Close()
	require.NoError(t, WriteFile(path, sample()))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeNamedPipe, "WriteFile replaced the pipe")
	onlyFiles(t, dir, "pipe")

	got := make([]byte, 128+4)
	_, err = pipe.Read(got)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4}, got[128:])
}
