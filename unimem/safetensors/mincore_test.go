//go:build linux || darwin

package safetensors

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// mincore sees the pages of a file that was just written.
func TestMincore(t *testing.T) {
	leaktest.SkipEmulated(t)
	path, _ := large(t)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	n, ok := mincoreBytes(f, info.Size())
	require.True(t, ok)
	require.Equal(t, info.Size(), n)
}
