//go:build cgo

package standin

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/objcbridge"
)

// childEnv is the environment variable with the case that TestChild runs. A
// process starts the framework once, so other Options need other processes.
const childEnv = "STANDIN_TEST_CHILD"

// children are the cases that run in their own process. ANEKIT_BRIDGE_DIR is
// set.
var children = map[string]func(t *testing.T){
	"found by the environment": func(t *testing.T) {
		require.NoError(t, Probe())
		require.NoError(t, Probe(), "again")
		f, err := Start(Options{Profile: "15"})
		require.NoError(t, err)
		require.Equal(t, filepath.Join(os.Getenv(objcbridge.EnvDir), frameworkFile), f.Config().Bridge.Framework)
		require.Empty(t, f.Leftovers())
	},
	"something is missing": func(t *testing.T) {
		lacks(t, Options{Missing: []string{"_ANEInMemoryModel unloadWithQoS:error:"}},
			"unloadWithQoS:error: no selector")
	},
	"a class is missing": func(t *testing.T) {
		lacks(t, Options{Missing: []string{"_ANERequest"}}, "validate no class")
	},
	"an encoding has changed": func(t *testing.T) {
		lacks(t, Options{Changed: []string{"_ANEInMemoryModel loadWithQoS:options:error: B@:Q@^@"}},
			"loadWithQoS:options:error: other encoding")
	},
	"a pool that cannot be opened": func(t *testing.T) {
		pool := filepath.Join(t.TempDir(), "none", "pool")
		_, err := Start(Options{Pool: pool})
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, pool)
		require.ErrorContains(t, err, EnvPool)
	},
	"two folders": func(t *testing.T) {
		require.NoError(t, Probe())
		other := t.TempDir()
		for _, file := range []string{surfaceFile, frameworkFile} {
			require.NoError(t, os.Symlink(filepath.Join(os.Getenv(objcbridge.EnvDir), file),
				filepath.Join(other, file)))
		}
		_, err := Start(Options{Dir: other})
		require.ErrorIs(t, err, ane.ErrInUse)
		require.ErrorContains(t, err, os.Getenv(objcbridge.EnvDir))
	},
	"a folder of its own": func(t *testing.T) {
		shared := t.TempDir()
		for _, set := range []func(){
			func() { t.Setenv(temporary, filepath.Join(shared, "none")) },
			func() { t.Setenv(temporary, os.Args[0]) }, // a file
		} {
			set()
			require.ErrorIs(t, Probe(), ane.ErrUnavailable)
			require.ErrorContains(t, Probe(), temporary)
		}
		t.Chdir(shared)
		t.Setenv(temporary, ".")
		f, err := Start(Options{})
		require.NoError(t, err)
		require.Equal(t, ".", os.Getenv(temporary), "unchanged")
		for range 2 {
			require.Empty(t, below(t, shared))
			c := f.Config()
			require.NoError(t, c.Open())
			b, err := objcbridge.Open(c.Bridge)
			require.NoError(t, err)
			p, err := b.NewProgram([]byte(addition), nil)
			require.NoError(t, err)
			_, err = p.Compile(driverabi.QoSDefault)
			require.NoError(t, err)
			require.NoError(t, p.Load(driverabi.QoSDefault))
			facts, err := p.Inspect()
			require.NoError(t, err)
			own := below(t, shared)
			require.Len(t, own, 1)
			require.Equal(t, filepath.Join(shared, own[0], facts.Identity), facts.Path)
			p.Close()
			require.NoError(t, b.Close())
			require.NoError(t, c.Close())
		}
		require.Empty(t, below(t, shared))

		c := f.Config() // reports and removes files that the framework leaves
		require.NoError(t, c.Open())
		left := filepath.Join(shared, below(t, shared)[0], "left")
		require.NoError(t, os.WriteFile(left, nil, 0o600))
		require.ErrorIs(t, c.Close(), ane.ErrEngine)
		require.Empty(t, below(t, shared))
	},
	"the bridge is none": func(t *testing.T) {
		dir := t.TempDir()
		for _, file := range []string{surfaceFile, frameworkFile} {
			require.NoError(t, os.Symlink(filepath.Join(os.Getenv(objcbridge.EnvDir), file), filepath.Join(dir, file)))
		}
		bridge := filepath.Join(dir, objcbridge.LibraryName())
		require.NoError(t, os.WriteFile(bridge, []byte("none"), 0o600))
		t.Setenv(objcbridge.EnvDir, dir)
		for range 2 {
			require.ErrorIs(t, Probe(), ane.ErrUnavailable)
			require.ErrorIs(t, Probe(), objcbridge.ErrBridgeUnavailable)
			require.ErrorContains(t, Probe(), bridge)
		}
	},
	"no libraries": func(t *testing.T) {
		t.Setenv(objcbridge.EnvDir, t.TempDir())
		for range 2 { // a failed load is tried again
			_, err := Start(Options{})
			require.ErrorIs(t, err, ane.ErrUnavailable)
			require.ErrorIs(t, Probe(), ane.ErrUnavailable)
		}
	},
	"started by others": func(t *testing.T) {
		l, err := loaded("")
		require.NoError(t, err)
		require.Zero(t, l.begin(Options{}, nil))
		_, err = Start(Options{})
		require.ErrorIs(t, err, ane.ErrInUse)
	},
}

// below lists the entries of a folder.
func below(t *testing.T, folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// lacks starts a framework with something missing and requires row in the
// bridge's report.
func lacks(t *testing.T, o Options, row string) {
	f, err := Start(o)
	require.NoError(t, err)
	_, err = objcbridge.Open(f.Config().Bridge)
	var e *objcbridge.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, objcbridge.KindMissing, e.Kind)
	report, _ := objcbridge.Inspect(f.Config().Bridge) // Open returns the error
	var rows []string
	for _, c := range report.Checks {
		rows = append(rows, c.Selector+" "+c.Status.String())
	}
	require.Contains(t, rows, row)
}

func TestChild(t *testing.T) {
	if name := os.Getenv(childEnv); name != "" {
		require.Contains(t, children, name)
		children[name](t)
		return
	}
	dir := bridgetest.Build(t)
	for _, name := range slices.Sorted(maps.Keys(children)) {
		t.Run(name, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
			c.Env = append(os.Environ(), childEnv+"="+name, objcbridge.EnvDir+"="+dir)
			out, err := c.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "--- PASS: TestChild")
		})
	}
}
