package wholefile

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Makes compares folders by identity and needs neither file.
func TestMakes(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"))
	require.NoError(t, err)
	defer f.Discard()
	require.True(t, f.Makes(filepath.Join(dir, "a")))
	require.True(t, f.Makes(dir+"/../"+filepath.Base(dir)+"/a"))
	require.False(t, f.Makes(filepath.Join(dir, "b")))
	require.False(t, f.Makes(filepath.Join(dir, "none", "a")))
	require.False(t, f.Makes(filepath.Join(t.TempDir(), "a")))
}
