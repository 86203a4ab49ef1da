//go:build !macrules

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

// TestPolicyThroughLinks: a policy whose name leads through a link that another user could replace grants nothing, at
// whichever place of the name the link is.
func TestPolicyThroughLinks(t *testing.T) {
	dir := t.TempDir()
	own, open, sticky := filepath.Join(dir, "own"), filepath.Join(dir, "open"), filepath.Join(dir, "sticky")
	for path, mode := range map[string]os.FileMode{own: 0o700, open: 0o777, sticky: 0o777 | os.ModeSticky} {
		require.NoError(t, os.Mkdir(path, 0o700))
		require.NoError(t, os.Chmod(path, mode))
	}
	file := filepath.Join(own, "policy.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"grants":[]}`), 0o600))
	link := func(to string, at ...string) string {
		name := filepath.Join(at...)
		require.NoError(t, os.Symlink(to, name))
		return name
	}
	through := link(own, open, "folder")
	for path, ok := range map[string]bool{
		link(file, own, "link"):                                     true,
		link("policy.json", own, "near"):                            true,
		link("../own/near", own, "chain"):                           true,
		link(own, own, "self") + "/self/../own/policy.json":         true,
		link(file, sticky, "link"):                                  true,
		link(file, open, "link"):                                    false,
		link(filepath.Join(through, "policy.json"), own, "through"): false,
		through + "/policy.json":                                    false,
		through + "/../own/policy.json":                             false,
	} {
		_, err := ReadPolicy(path)
		if ok {
			require.NoError(t, err, path)
			continue
		}
		require.ErrorIs(t, err, ane.ErrDenied, path)
		require.ErrorContains(t, err, open, path)
	}
	require.ErrorIs(t, trustedAbove(link("circle", own, "circle")), unix.ELOOP)
	t.Chdir(open)
	_, err := ReadPolicy("link")
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorIs(t, trustedAbove("folder"), ane.ErrDenied, "a relative name has folders above it")
	if os.Geteuid() == 0 {
		require.NoError(t, os.Lchown(filepath.Join(sticky, "link"), 65534, -1))
		_, err := ReadPolicy(filepath.Join(sticky, "link"))
		require.ErrorIs(t, err, ane.ErrDenied, "the owner of a link can replace it")
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
