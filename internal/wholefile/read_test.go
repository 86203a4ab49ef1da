package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	_, err := Read(path, 5)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("bytes"), 0o600))
	data, err := Read(path, 5)
	require.NoError(t, err)
	require.Equal(t, "bytes", string(data))
	_, err = Read(path, 4)
	require.ErrorIs(t, err, ErrLong)
	_, err = Read(filepath.Dir(path), 5)
	require.ErrorIs(t, err, ErrIrregular)
}
