package iosurface_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
)

// The cause of a refusal follows from the call, and for a lock from the code.
func TestExhausted(t *testing.T) {
	for _, c := range []struct {
		e    iosurface.Error
		want bool
	}{
		{iosurface.Error{Call: "IOSurfaceCreate"}, true},
		{iosurface.Error{Call: "IOSurfaceLookup"}, false},
		{iosurface.Error{Call: "IOSurfaceLock", Code: 6}, true},           // KERN_RESOURCE_SHORTAGE
		{iosurface.Error{Call: "IOSurfaceLock", Code: -0x1ffffd22}, true}, // kIOReturnCannotWire
		{iosurface.Error{Call: "IOSurfaceLock", Code: -0x1ffffd44}, false},
		{iosurface.Error{Call: "IOSurfaceUnlock", Code: 6}, false},
	} {
		require.Equal(t, c.want, c.e.Exhausted(), c.e.Error())
		require.Equal(t, c.e.Call == "IOSurfaceLookup", c.e.Missing())
	}
}

// Thousands of refusals in a row leak nothing.
func TestManyRefusals(t *testing.T) {
	f := surfacetest.New(t)
	const good, refused = 388, 6157 // as public reports have it
	f.FailMany("IOSurfaceCreate", good+1, refused)
	for i := range good + refused + 1 {
		s, err := iosurface.Open(f.Table(), size)
		if i < good || i == good+refused {
			require.NoError(t, err, i)
			require.Equal(t, surfacetest.Counts{Objects: 1, References: 1, Surfaces: 1, Locks: 1}, f.Count())
			require.NoError(t, s.Close())
		} else {
			require.ErrorContains(t, err, "IOSurfaceCreate", i)
		}
		require.Zero(t, f.Count())
	}
}
