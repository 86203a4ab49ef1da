package iosurface_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
)

const size = 32 << 10

func TestOpenAndClose(t *testing.T) {
	f := surfacetest.New(t)
	s, err := iosurface.Open(f.Table(), size)
	require.NoError(t, err)
	require.Equal(t, 1, f.Live(), "only the surface exists after opening")
	require.NotZero(t, s.Base)
	require.NotZero(t, s.ID)
	require.Equal(t, size, s.Size)

	require.NoError(t, s.Close())
	require.Zero(t, f.Live())
	require.NoError(t, s.Close(), "closing again does nothing")
	require.Equal(t, 1, f.Calls("IOSurfaceUnlock"))
}

func TestLookup(t *testing.T) {
	f := surfacetest.New(t)
	s, err := iosurface.Open(f.Table(), size)
	require.NoError(t, err)
	twin, err := iosurface.Lookup(f.Table(), s.ID, size)
	require.NoError(t, err)
	require.Equal(t, s.Base, twin.Base)

	_, err = iosurface.Lookup(f.Table(), s.ID, size+1)
	require.ErrorContains(t, err, "IOSurfaceGetAllocSize")
	_, err = iosurface.Lookup(f.Table(), s.ID+1, size)
	require.ErrorContains(t, err, "IOSurfaceLookup")

	require.NoError(t, s.Close())
	require.Equal(t, 1, f.Live(), "the looked-up reference holds the surface")
	require.NoError(t, twin.Close())
}

// Every step fails in turn; afterwards no object exists.
func TestOpenFailures(t *testing.T) {
	steps := []struct {
		call    string
		times   int
		locking bool
	}{
		{"CFDictionaryCreateMutable", 1, false},
		{"CFNumberCreate", 6, false},
		{"IOSurfaceCreate", 1, false},
		{"IOSurfaceLock", 1, true},
		{"IOSurfaceGetBaseAddress", 1, true},
		{"IOSurfaceGetAllocSize", 1, false},
		{"IOSurfaceGetID", 1, false},
	}
	for _, step := range steps {
		for nth := 1; nth <= step.times; nth++ {
			t.Run(fmt.Sprint(step.call, nth), func(t *testing.T) {
				f := surfacetest.New(t)
				f.Fail(step.call, nth)
				_, err := iosurface.Open(f.Table(), size)
				var e *iosurface.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, step.call, e.Call)
				require.Equal(t, step.locking, e.Locking())
				require.Zero(t, f.Live())

				s, err := iosurface.Open(f.Table(), size)
				require.NoError(t, err, "the next attempt succeeds")
				require.NoError(t, s.Close())
			})
		}
	}
}

func TestLookupFailures(t *testing.T) {
	for _, call := range []string{"IOSurfaceLookup", "IOSurfaceLock", "IOSurfaceGetBaseAddress",
		"IOSurfaceGetAllocSize", "IOSurfaceGetID"} {
		t.Run(call, func(t *testing.T) {
			f := surfacetest.New(t)
			s, err := iosurface.Open(f.Table(), size)
			require.NoError(t, err)
			f.Fail(call, 1)
			_, err = iosurface.Lookup(f.Table(), s.ID, size)
			require.ErrorContains(t, err, call)
			require.NoError(t, s.Close())
			require.Zero(t, f.Live())
		})
	}
}

func TestUnlockFailure(t *testing.T) {
	f := surfacetest.New(t)
	s, err := iosurface.Open(f.Table(), size)
	require.NoError(t, err)
	f.Fail("IOSurfaceUnlock", 1)
	require.ErrorContains(t, s.Close(), "IOSurfaceUnlock: the surface cannot be unlocked (0xe00002bc)")
	require.Zero(t, f.Live(), "released nevertheless")
}

// A surface from 2 GiB on has several rows, so that no field but its size has more than 31 bits. The
// fake checks the properties before it refuses.
func TestManyRows(t *testing.T) {
	f := surfacetest.New(t)
	for _, size := range []uint64{1<<31 - 16<<10, 1 << 31, iosurface.MaxSize &^ (16<<10 - 1)} {
		if size > math.MaxInt {
			break
		}
		f.Fail("IOSurfaceCreate", 1)
		_, err := iosurface.Open(f.Table(), int(size))
		require.ErrorContains(t, err, "IOSurfaceCreate")
	}
}
