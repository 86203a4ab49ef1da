//go:build !macrules

package hal_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/await"
)

// A pipe in the folder of CacheDir, which blocks its reader, is no program.
func TestCacheDirWithAPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "pipe.program"), 0o600))
	d := newDevice(t, hal.CacheDir(dir))
	require.NoError(t, await.Done(t, func() error { return d.Close(context.Background()) }))
}
