//go:build !macrules

package shared

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
)

// TestPolicyInAPipe: a pipe or a device in the place of a policy does not block the start of a broker.
func TestPolicyInAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("/dev/zero", link))
	for _, path := range []string{pipe, link, dir} {
		done := make(chan error, 1)
		go func() {
			_, err := ReadPolicy(path)
			done <- err
		}()
		require.ErrorContains(t, await.Value(t, done), "not a regular file", path)
	}
}
