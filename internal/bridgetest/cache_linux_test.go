//go:build cgo && (amd64 || arm64)

package bridgetest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/objcbridge"
)

// makes is a script that writes the three libraries, and a line into the file log beside the
// script.
const makes = `set -eu
echo built >>"$(dirname "$0")/log"
for name in libanebridge.so libAppleNeuralEngine.so libstandinsurface.so; do echo "${2-plain}" >"$1/$name"; done
`

// tree makes a folder of sources with the script, and an empty cache folder.
func tree(t *testing.T, text string) (root, cache string) {
	t.Helper()
	root, cache = t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	for name, content := range map[string]string{script: text, "src/a.m": "a", "standin/b.c": "b"} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return root, filepath.Join(cache, "anekit")
}

func builds(t *testing.T, root string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(root, "log"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(log), "built")
}

func TestCachedBuildsOnce(t *testing.T) {
	root, cache := tree(t, makes)
	var wg sync.WaitGroup
	dirs := make([]string, 8)
	for i := range dirs {
		wg.Go(func() {
			var err error
			if dirs[i], err = cached(root, plain); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, builds(t, root))
	for _, dir := range dirs {
		require.Equal(t, dirs[0], dir)
		require.Equal(t, cache, filepath.Dir(dir))
	}
	require.NoError(t, complete(dirs[0]))

	// An incomplete folder is built again.
	require.NoError(t, os.Remove(filepath.Join(dirs[0], Surface)))
	dir, err := cached(root, plain)
	require.NoError(t, err)
	require.Equal(t, dirs[0], dir)
	require.Equal(t, 2, builds(t, root))

	// Other flags have another folder.
	other, err := cached(root, sanitized)
	require.NoError(t, err)
	require.NotEqual(t, dir, other)
	content, err := os.ReadFile(filepath.Join(other, Surface))
	require.NoError(t, err)
	require.Equal(t, "--sanitize\n", string(content))
}

func TestCachedFollowsSources(t *testing.T) {
	root, _ := tree(t, makes)
	seen := map[string]string{}
	look := func(change string) {
		dir, err := cached(root, plain)
		require.NoError(t, err)
		require.Empty(t, seen[dir], "%s does not change the fingerprint", change)
		seen[dir] = change
	}
	look("nothing")
	for _, name := range []string{"src/a.m", "standin/b.c", "src/new.h", "standin/deep/new.c"} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("other"), 0o644))
		look(name)
	}
	require.NoError(t, os.Rename(filepath.Join(root, "src/new.h"), filepath.Join(root, "src/renamed.h")))
	look("a name")
	require.NoError(t, os.WriteFile(filepath.Join(root, script), []byte(makes+"# other\n"), 0o644))
	look(script)
}

func TestCachedFailures(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"the script fails":       {"echo what is wrong >&2; exit 3", "what is wrong"},
		"the script does little": {`echo >"$1/libanebridge.so"`, Framework},
	} {
		t.Run(name, func(t *testing.T) {
			root, cache := tree(t, c.script)
			_, err := cached(root, plain)
			require.ErrorContains(t, err, c.want)
			entries, err := os.ReadDir(cache)
			require.NoError(t, err)
			require.Len(t, entries, 1, "only the lock stays")
		})
	}
	root, _ := tree(t, makes)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "standin")))
	_, err := cached(root, plain)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestPrune(t *testing.T) {
	cache := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{prefix + "old": ageKept + time.Minute, prefix + "young": ageKept / 2,
		unsealed + "old": 2 * ageKept, unsealed + "young": 0, "other": 100 * ageKept} {
		dir := filepath.Join(cache, name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, os.Chtimes(dir, now.Add(-age), now.Add(-age)))
	}
	require.NoError(t, prune(cache, now))
	entries, err := os.ReadDir(cache)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{prefix + "young", "other", unsealed + "young"}, names)
}

func TestMissingNamesWhatAndHow(t *testing.T) {
	t.Setenv(objcbridge.EnvDir, "")
	t.Setenv("PATH", t.TempDir())
	reason := missing("bridge")
	require.Contains(t, reason, "clang-14")
	require.Contains(t, reason, "libgnustep-base-dev")
	require.Contains(t, reason, "apt-get install")
	require.Contains(t, reason, "make bridge")
	require.NotContains(t, reason, "\n")
	_, sanitizer := Sanitizer()
	require.Contains(t, sanitizer, "libclang-rt-14-dev")
}

func TestMissingCacheFolder(t *testing.T) {
	t.Setenv(objcbridge.EnvDir, "")
	if reason := missing("bridge"); reason != "" {
		t.Skip(reason)
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	require.Contains(t, missing("bridge"), "HOME")
}
