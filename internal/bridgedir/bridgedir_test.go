package bridgedir_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgedir"
)

// put makes an empty file and returns its path.
func put(t *testing.T, path ...string) string {
	file := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	return file
}

// root is a new folder without symbolic links in its path.
func root(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func TestOrder(t *testing.T) {
	const name = "lib.so"
	root := root(t)
	app := put(t, root, "app", "tool")
	here := func() (string, error) { return app, nil }

	_, err := bridgedir.Places{Executable: here}.Find(name)
	var none *bridgedir.NotFound
	require.ErrorAs(t, err, &none)
	for _, dir := range []string{"app", "app/bridge"} {
		require.ErrorContains(t, err, filepath.Join(root, dir, name), "the error lists the paths searched")
	}
	require.ErrorContains(t, err, bridgedir.Env)

	nested := put(t, root, "app", "bridge", name)
	found, err := bridgedir.Places{Executable: here}.Find(name)
	require.NoError(t, err)
	require.Equal(t, nested, found)

	beside := put(t, root, "app", name)
	found, err = bridgedir.Places{Executable: here}.Find(name)
	require.NoError(t, err)
	require.Equal(t, beside, found)

	env := put(t, root, "env", name)
	found, err = bridgedir.Places{Dir: filepath.Dir(env), Executable: here}.Find(name)
	require.NoError(t, err)
	require.Equal(t, env, found)

	_, err = bridgedir.Places{Dir: filepath.Join(root, "gone"), Executable: here}.Find(name)
	require.ErrorAs(t, err, &none)
	require.ErrorIs(t, err, os.ErrNotExist, "a missing folder set by the user ends the search")
	require.ErrorContains(t, err, "gone")
}

func TestNeverInWorkingDirectory(t *testing.T) {
	const name = "lib.so"
	root := root(t)
	put(t, root, name)
	put(t, root, "bridge", name)
	t.Chdir(root)
	elsewhere := filepath.Join(t.TempDir(), "tool")
	for what, executable := range map[string]func() (string, error){
		"elsewhere": func() (string, error) { return elsewhere, nil },
		"unknown":   func() (string, error) { return "", errors.New("unknown") },
		"empty":     func() (string, error) { return "", nil },
		"relative":  func() (string, error) { return ".", nil },
		"the test":  os.Executable,
	} {
		_, err := bridgedir.Places{Executable: executable}.Find(name)
		require.Error(t, err, what)
	}
	t.Setenv(bridgedir.Env, "bridge")
	found, err := bridgedir.Host().Find(name)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "bridge", name), found, "a path set by the user may be relative")
}

func TestResolvesLinks(t *testing.T) {
	root := root(t)
	put(t, root, "real", "tool")
	library := put(t, root, "real", "lib.so")
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o755))
	link := filepath.Join(root, "bin", "tool")
	if err := os.Symlink(filepath.Join(root, "real", "tool"), link); err != nil {
		t.Skip("no symbolic links here: " + err.Error())
	}
	found, err := bridgedir.Places{Executable: func() (string, error) { return link, nil }}.Find("lib.so")
	require.NoError(t, err)
	require.Equal(t, library, found)

	alias := filepath.Join(root, "alias.so")
	require.NoError(t, os.Symlink(library, alias))
	found, err = bridgedir.Existing(alias, "a setting")
	require.NoError(t, err)
	require.Equal(t, library, found, "links to one file give one path")
}
