package objcbridge

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// put makes an empty file and returns its path.
func put(t *testing.T, path ...string) string {
	file := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	return file
}

func TestSearchOrder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	name := LibraryName()
	app := put(t, root, "app", "tool")
	here := func() (string, error) { return app, nil }

	_, err = places{executable: here}.find()
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	for _, dir := range []string{"app", "app/bridge"} {
		require.ErrorContains(t, err, filepath.Join(root, dir, name), "the error lists the paths searched")
	}
	require.ErrorContains(t, err, "make bridge")
	require.ErrorContains(t, err, EnvDir)

	nested := put(t, root, "app", "bridge", name)
	found, err := places{executable: here}.find()
	require.NoError(t, err)
	require.Equal(t, nested, found)

	beside := put(t, root, "app", name)
	found, err = places{executable: here}.find()
	require.NoError(t, err)
	require.Equal(t, beside, found)

	env := put(t, root, "env", name)
	found, err = places{dir: filepath.Dir(env), executable: here}.find()
	require.NoError(t, err)
	require.Equal(t, env, found)

	given := put(t, root, "given", "own.so")
	found, err = places{explicit: given, dir: filepath.Dir(env), executable: here}.find()
	require.NoError(t, err)
	require.Equal(t, given, found)
}

// TestSearchStopsAtUserPaths: a missing path set by the user ends the search.
func TestSearchStopsAtUserPaths(t *testing.T) {
	root := t.TempDir()
	app := put(t, root, "app", "tool")
	put(t, root, "app", LibraryName())
	here := func() (string, error) { return app, nil }
	for setting, p := range map[string]places{
		EnvDir:            {dir: filepath.Join(root, "gone"), executable: here},
		"Options.Library": {explicit: filepath.Join(root, "gone.so"), executable: here},
	} {
		_, err := p.find()
		require.ErrorIs(t, err, ErrBridgeUnavailable)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.ErrorContains(t, err, setting)
		require.ErrorContains(t, err, "gone")
	}
}

func TestSearchNeverInWorkingDirectory(t *testing.T) {
	root := t.TempDir()
	put(t, root, LibraryName())
	put(t, root, "bridge", LibraryName())
	t.Chdir(root)
	t.Setenv(EnvDir, "")
	elsewhere := filepath.Join(t.TempDir(), "tool")
	for name, executable := range map[string]func() (string, error){
		"elsewhere": func() (string, error) { return elsewhere, nil },
		"unknown":   func() (string, error) { return "", errors.New("unknown") },
		"empty":     func() (string, error) { return "", nil },
		"relative":  func() (string, error) { return ".", nil },
		"the test":  os.Executable,
	} {
		p := hostPlaces("")
		p.executable = executable
		_, err := p.find()
		require.ErrorIs(t, err, ErrBridgeUnavailable, name)
	}
	require.ErrorIs(t, Probe(), ErrBridgeUnavailable)
	_, err := Dir()
	require.ErrorIs(t, err, ErrBridgeUnavailable)
}

// TestSearchRelativeOnRequest: a relative path set by the user is relative to the
// working directory.
func TestSearchRelativeOnRequest(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := put(t, root, "lib", LibraryName())
	t.Chdir(root)
	for _, p := range []places{{explicit: filepath.Join("lib", LibraryName())}, {dir: "lib"}} {
		found, err := p.find()
		require.NoError(t, err)
		require.Equal(t, file, found)
	}
}

func TestSearchResolvesLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	put(t, root, "real", "tool")
	library := put(t, root, "real", LibraryName())
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o755))
	link := filepath.Join(root, "bin", "tool")
	if err := os.Symlink(filepath.Join(root, "real", "tool"), link); err != nil {
		t.Skip("no symbolic links here: " + err.Error())
	}
	found, err := places{executable: func() (string, error) { return link, nil }}.find()
	require.NoError(t, err)
	require.Equal(t, library, found)

	alias := filepath.Join(root, "alias.so")
	require.NoError(t, os.Symlink(library, alias))
	found, err = places{explicit: alias}.find()
	require.NoError(t, err)
	require.Equal(t, library, found, "links to one file give one path")
}
