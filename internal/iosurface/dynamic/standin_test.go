//go:build linux && cgo

package dynamic_test

import (
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// stats is standin_surface_stats of standin.h.
type stats struct{ Objects, Surfaces, Locks, Bytes, Retains, Releases int64 }

// alive returns the counts that must be zero when everything is closed.
func (s stats) alive() [4]int64 { return [4]int64{s.Objects, s.Surfaces, s.Locks, s.Bytes} }

// standin is the stand-in library for CoreFoundation and IOSurface, with its test functions.
type standin struct {
	table *iosurface.Table
	path  string
	count func(*stats)
	fail  func(function string, nth int32)
	adopt func(fd int32, size uintptr) uintptr
	locks func(surface uintptr) int32
}

// open loads the stand-in, without a check at the end.
func open(t testing.TB) *standin {
	s := &standin{path: filepath.Join(bridgetest.Build(t), bridgetest.Surface)}
	var err error
	s.table, err = dynamic.Load(s.path, s.path)
	require.NoError(t, err)
	purego.RegisterFunc(&s.count, s.symbol(t, "standin_surface_count"))
	purego.RegisterFunc(&s.fail, s.symbol(t, "standin_surface_fail"))
	purego.RegisterFunc(&s.adopt, s.symbol(t, "standin_surface_adopt"))
	purego.RegisterFunc(&s.locks, s.symbol(t, "standin_surface_locks"))
	return s
}

// gated loads the stand-in, and fails the test if anything is alive in it at the end.
func gated(t *testing.T) *standin {
	s := open(t)
	require.Zero(t, s.now().alive(), "alive before the test: objects, surfaces, locks, bytes")
	t.Cleanup(func() {
		alive := s.now().alive()
		require.Zero(t, alive, "alive: objects, surfaces, locks, bytes: %d", alive)
	})
	return s
}

// Option makes surfaces of the stand-in.
func (s *standin) Option() unimem.Option { return blockoption.On(s.table) }

// Adopt makes a Block of a surface of the stand-in.
func (s *standin) Adopt(id uint32, size int, opts ...unimem.Option) (*unimem.Block, error) {
	return unimem.AdoptSurface(id, size, append([]unimem.Option{s.Option()}, opts...)...)
}

func (s *standin) now() stats {
	var n stats
	s.count(&n)
	return n
}

// symbol returns the address of a symbol.
func (s *standin) symbol(t testing.TB, name string) uintptr {
	lib, err := purego.Dlopen(s.path, purego.RTLD_NOW)
	require.NoError(t, err)
	at, err := purego.Dlsym(lib, name)
	require.NoError(t, err)
	return at
}

// release releases a reference of standin.adopt.
func (s *standin) release(t testing.TB, surface uintptr) {
	purego.SyscallN(s.symbol(t, "CFRelease"), surface)
}

// id returns the IOSurfaceID of a surface.
func (s *standin) id(t testing.TB, surface uintptr) uint32 {
	r, _, _ := purego.SyscallN(s.symbol(t, "IOSurfaceGetID"), surface)
	return uint32(r)
}
