//go:build linux && cgo

package dynamic_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// childEnv names the mistake that a child process of this test makes.
const childEnv = "SURFACES_TEST_CHILD"

// child runs a test of this binary in a child process, with childEnv set.
func child(t *testing.T, test, wrong string) (string, error) {
	bridgetest.Build(t) // the child needs the stand-in
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, "-test.run=^"+test+"$", "-test.count=1")
	c.Env = append(os.Environ(), childEnv+"="+wrong)
	out, err := c.CombinedOutput()
	return string(out), err
}

// The check of the other tests detects leaks: a surface, and a lock whose unlock failed.
func TestGateCatches(t *testing.T) {
	plant := map[string]func(*testing.T, *standin){
		"nothing": func(*testing.T, *standin) {},
		"surface": func(t *testing.T, s *standin) {
			table, err := dynamic.Load(s.path, s.path)
			require.NoError(t, err)
			_, err = iosurface.Open(table, page)
			require.NoError(t, err)
		},
		"reference": func(t *testing.T, s *standin) {
			ref, _, _ := s.foreign(t, make([]byte, page))
			require.NotZero(t, ref)
		},
		"lock": func(t *testing.T, s *standin) {
			b, err := unimem.Open(1, s.Option())
			require.NoError(t, err)
			s.fail("IOSurfaceUnlock", 1)
			err = b.Close()
			require.ErrorIs(t, err, unimem.ErrRelease)
			require.ErrorContains(t, err, "IOSurfaceUnlock")
			require.NoError(t, b.Close(), "closed nevertheless")
			require.Zero(t, unimem.Live().Blocks)
			require.Equal(t, [4]int64{0, 0, 1, 0}, s.now().alive(), "only the lock whose unlock failed")
		},
	}
	if wrong := os.Getenv(childEnv); wrong != "" {
		plant[wrong](t, gated(t))
		return
	}
	for name, alive := range map[string]string{
		"nothing": "", "surface": "[1 1 1 16384]", "reference": "[1 1 0 16384]", "lock": "[0 0 1 0]",
	} {
		out, err := child(t, "TestGateCatches", name)
		if alive == "" {
			require.NoError(t, err, out)
			continue
		}
		require.Error(t, err, out)
		require.Contains(t, out, "alive: objects, surfaces, locks, bytes", name)
		require.Contains(t, out, alive, name)
	}
}

// A pointer of the wrong level, which would corrupt memory in CoreFoundation, aborts the
// process in the stand-in with the name of the function.
func TestWrongPointerLevelsAbort(t *testing.T) {
	spoil := map[string]func(*testing.T, *standin, *iosurface.Table){
		"CFDictionarySetValue": func(t *testing.T, s *standin, table *iosurface.Table) {
			table.Width = iosurface.Ref(s.symbol(t, "kIOSurfaceWidth")) // the variable, not the string
		},
		"CFDictionaryCreateMutable": func(_ *testing.T, _ *standin, table *iosurface.Table) {
			table.KeyCallBacks = 0
		},
		"CFRelease": func(_ *testing.T, _ *standin, table *iosurface.Table) {
			release := table.Release
			table.Release = func(r iosurface.Ref) { release(r); release(r) }
		},
		"IOSurfaceLock": func(_ *testing.T, _ *standin, table *iosurface.Table) {
			lock := table.Lock
			table.Lock = func(r iosurface.Ref, options uint32) int32 { return lock(r+1, options) }
		},
		"IOSurfaceCreate": func(_ *testing.T, _ *standin, table *iosurface.Table) {
			create, width := table.Create, table.Width
			table.Create = func(iosurface.Ref) iosurface.Ref { return create(width) }
		},
	}
	if wrong := os.Getenv(childEnv); wrong != "" {
		s := open(t)
		table, err := dynamic.Load(s.path, s.path)
		require.NoError(t, err)
		spoil[wrong](t, s, table)
		_, err = iosurface.Open(table, page)
		t.Fatal("the stand-in accepted it: ", err)
	}
	for function := range spoil {
		t.Run(function, func(t *testing.T) {
			out, err := child(t, "TestWrongPointerLevelsAbort", function)
			require.Error(t, err)
			require.Contains(t, out, "standin: "+function+"(")
			require.Contains(t, out, "SIGABRT")
			require.NotContains(t, out, "accepted it")
		})
	}
	out, _ := child(t, "TestWrongPointerLevelsAbort", "CFDictionarySetValue")
	require.Contains(t, out, "the address of kIOSurfaceWidth is given where its value is meant")
}
