//go:build linux && cgo

package dynamic_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/unimem"
)

// steps are the calls of the surface library for opening one surface, in order, each with the
// number of calls and the error of its failure.
var steps = []struct {
	call  string
	times int
	want  error
}{
	{"CFDictionaryCreateMutable", 1, unimem.ErrCreate},
	{"CFNumberCreate", 6, unimem.ErrCreate},
	{"IOSurfaceCreate", 1, unimem.ErrCreate},
	{"IOSurfaceLock", 1, unimem.ErrLock},
	{"IOSurfaceGetBaseAddress", 1, unimem.ErrLock},
	{"IOSurfaceGetAllocSize", 1, unimem.ErrCreate},
	{"IOSurfaceGetID", 1, unimem.ErrCreate},
}

// makers are calls that open surfaces, with the number of surfaces.
var makers = map[string]struct {
	surfaces int
	open     func(o unimem.Option) (interface{ Close() error }, error)
}{
	"block": {1, func(o unimem.Option) (interface{ Close() error }, error) { return unimem.Open(1, o) }},
	"tape":  {1, func(o unimem.Option) (interface{ Close() error }, error) { return unimem.Start(1, o) }},
	"grid": {3, func(o unimem.Option) (interface{ Close() error }, error) {
		return unimem.NewGrid(64, 3, o, unimem.SurfacePerCell())
	}},
	"layout": {3, func(o unimem.Option) (interface{ Close() error }, error) { return unimem.NewLayout(1, 1, 1, o) }},
}

// Every call fails in turn, in every surface: afterwards no object is alive, and the next
// attempt succeeds.
func TestEveryCallFails(t *testing.T) {
	s := gated(t)
	for name, m := range makers {
		for _, step := range steps {
			for nth := 1; nth <= step.times*m.surfaces; nth++ {
				t.Run(fmt.Sprint(name, "/", step.call, nth), func(t *testing.T) {
					live := unimem.Live()
					s.fail(step.call, int32(nth))
					defer s.fail(step.call, 0)
					_, err := m.open(s.Option())
					require.ErrorIs(t, err, step.want)
					var e *iosurface.Error
					require.ErrorAs(t, err, &e)
					require.Equal(t, step.call, e.Call)
					require.Zero(t, s.now().alive())
					require.Equal(t, live, unimem.Live())

					again, err := m.open(s.Option())
					require.NoError(t, err, "the next attempt succeeds")
					require.NoError(t, again.Close())
					require.Zero(t, s.now().alive())
				})
			}
		}
	}
}

func TestEveryCallOfMapAndAdoptFails(t *testing.T) {
	s := gated(t)
	b, err := unimem.Open(1, s.Option())
	require.NoError(t, err)
	one := s.now().alive()
	for call, want := range map[string]error{
		"IOSurfaceLookup":         unimem.ErrCreate,
		"IOSurfaceLock":           unimem.ErrLock,
		"IOSurfaceGetBaseAddress": unimem.ErrLock,
		"IOSurfaceGetAllocSize":   unimem.ErrCreate,
		"IOSurfaceGetID":          unimem.ErrCreate,
	} {
		t.Run(call, func(t *testing.T) {
			live := unimem.Live()
			s.fail(call, 1)
			_, err := unimem.Map(b)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, call)
			s.fail(call, 1)
			_, err = s.Adopt(b.ID(), page)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, call)
			require.Equal(t, one, s.now().alive())
			require.Equal(t, live, unimem.Live())

			m, err := unimem.Map(b)
			require.NoError(t, err)
			require.NoError(t, m.Close())
			a, err := s.Adopt(b.ID(), page)
			require.NoError(t, err)
			require.NoError(t, a.Close())
			require.Equal(t, one, s.now().alive())
		})
	}
	require.NoError(t, b.Close())
}
