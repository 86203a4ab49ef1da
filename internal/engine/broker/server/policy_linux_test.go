package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
)

// TestPolicyOfOthers: a policy that another user could write, or replace, grants nothing.
func TestPolicyOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "folder")
	path := filepath.Join(dir, "policy.json")
	for what, c := range map[string]struct {
		file, folder os.FileMode
		ok           bool
	}{
		"its own":                      {0o644, 0o755, true},
		"a group may write it":         {0o664, 0o755, false},
		"others may write it":          {0o646, 0o755, false},
		"a group may write its folder": {0o644, 0o775, false},
		"others may":                   {0o644, 0o757, false},
		"others may, but not replace":  {0o644, 0o777 | os.ModeSticky, true},
	} {
		require.NoError(t, os.MkdirAll(dir, 0o700), what)
		require.NoError(t, os.WriteFile(path, []byte(`{"grants":[]}`), 0o600), what)
		require.NoError(t, os.Chmod(path, c.file), what)
		require.NoError(t, os.Chmod(dir, c.folder), what)
		_, err := ReadPolicy(path)
		if c.ok {
			require.NoError(t, err, what)
			continue
		}
		require.ErrorIs(t, err, ane.ErrDenied, what)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Hint)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(dir, 0o755))
		require.NoError(t, os.Chmod(path, 0o644))
		require.NoError(t, os.Chown(path, 65534, -1))
		_, err := ReadPolicy(path)
		require.ErrorIs(t, err, ane.ErrDenied)
	}
}

// TestPolicyInAPipe: a pipe or a device in the place of a policy blocks neither the start of a broker nor a reload.
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
