//go:build linux && cgo

package dynamic_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// A library without the symbols is refused with the name of the first, and unloaded.
func TestLoadOfOtherLibraries(t *testing.T) {
	s := gated(t)
	cc, err := exec.LookPath("cc")
	if err != nil {
		cc, err = exec.LookPath("clang-14")
	}
	if err != nil {
		t.Skip("no C compiler to build another library: apt-get install gcc, then run this test again")
	}
	folder := t.TempDir()
	source, other := filepath.Join(folder, "other.c"), filepath.Join(folder, "libother.so")
	require.NoError(t, os.WriteFile(source, []byte("void *kIOSurfaceWidth;\n"), 0o600))
	out, err := exec.Command(cc, "-shared", "-fPIC", "-o", other, source).CombinedOutput()
	require.NoError(t, err, string(out))
	for name, c := range map[string]struct{ ioSurface, coreFoundation, text string }{
		"no functions":      {s.path, other, "kCFTypeDictionaryKeyCallBacks"},
		"constant is NULL":  {other, s.path, "a CFString constant is NULL"},
		"second is absent":  {filepath.Join(folder, "none.so"), other, "none.so"},
		"neither has them":  {other, other, "NULL"},
		"not even an ELF":   {source, s.path, "other.c"},
		"first is a folder": {s.path, folder, folder},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dynamic.Load(c.ioSurface, c.coreFoundation)
			require.ErrorContains(t, err, c.text)
			var e *iosurface.Error
			require.ErrorAs(t, err, &e)
			maps, err := os.ReadFile("/proc/self/maps")
			require.NoError(t, err)
			require.NotContains(t, string(maps), other, "a refused library stays loaded")
		})
	}
}

// Loading is safe from several goroutines, and each Table works.
func TestLoadAtOnce(t *testing.T) {
	s := gated(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			table, err := dynamic.Load(s.path, s.path)
			if err != nil {
				t.Error(err)
				return
			}
			b, err := unimem.Open(1, blockoption.On(table))
			if err != nil || b.Close() != nil {
				t.Error("opening a Block on it fails: ", err)
			}
		})
	}
	wg.Wait()
}
