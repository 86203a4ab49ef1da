//go:build cgo

package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// opened opens a Block; the test closes it at its end.
func opened(tb testing.TB, size int, opts ...unimem.Option) *unimem.Block {
	b, err := unimem.Open(size, opts...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.Close()) })
	return b
}

func TestBlocksOnSurfacesAreUsedDirectly(t *testing.T) {
	f := started(t)
	b := opened(t, plane, f.Surfaces())
	before := f.SurfaceCounts()
	s, err := f.surfaceOf(b)
	require.NoError(t, err)
	require.Equal(t, b.Handle(), s.Ref)
	require.Same(t, &b.Bytes()[0], &s.Bytes[0])
	require.Nil(t, s.Release)
	after := f.SurfaceCounts()
	require.Equal(t, before.Objects, after.Objects, "the reference of the lookup is released")
	require.Equal(t, b.ID(), s.ID)
	require.EqualValues(t, 1, after.Surfaces)
}

// Apple's engine does not show its bytes.
func TestBytesAreShownOnRequestWithTheRulesOfMacOS(t *testing.T) {
	for _, reveal := range []bool{false, true} {
		f := &Framework{options: Options{Reveal: reveal}}
		require.Equal(t, reveal || !host.Mac, f.shown(apple.Surface{Bytes: []byte{1}}).Bytes != nil)
	}
}

func TestMemfdsBecomeLockedSurfaces(t *testing.T) {
	if !host.ShareByFD {
		t.Skip("Blocks are no memfds, of which the stand-in makes surfaces")
	}
	f := started(t)
	b := opened(t, 3*plane)
	s, err := f.surfaceOf(b)
	require.NoError(t, err)
	c := f.SurfaceCounts()
	require.EqualValues(t, 1, c.Surfaces)
	require.EqualValues(t, 1, c.Locks)
	require.NotZero(t, s.ID)
	require.Len(t, s.Bytes, b.Size())
	require.NotSame(t, &b.Bytes()[0], &s.Bytes[0], "the surface has a second address")
	b.Bytes()[7] = 42
	require.EqualValues(t, 42, s.Bytes[7], "of the same pages as the Block")
	s.Bytes[b.Size()-1] = 43
	require.EqualValues(t, 43, b.Bytes()[b.Size()-1])
	require.NoError(t, s.Release())
	require.Empty(t, f.Leftovers())
}

func TestMemoryWithoutSurface(t *testing.T) {
	f := started(t)
	_, err := f.surfaceOf(opened(t, plane, unimem.OnHeap()))
	require.ErrorIs(t, err, ane.ErrMismatch)
	require.ErrorContains(t, err, "heap")
	require.ErrorContains(t, err, "without OnHeap")
	for _, opts := range [][]unimem.Option{nil, {f.Surfaces()}} {
		b, err := unimem.Open(plane, opts...)
		require.NoError(t, err)
		require.NoError(t, b.Close())
		_, err = f.surfaceOf(b)
		require.ErrorIs(t, err, ane.ErrStale)
	}
	_, err = f.surfaceOf(nil)
	require.ErrorIs(t, err, ane.ErrStale)
}

// TestSurfacesOfAnotherLibrary: two libraries use equal ids, so the engine
// checks the surface's library.
func TestSurfacesOfAnotherLibrary(t *testing.T) {
	f := started(t)
	text, err := os.ReadFile(filepath.Join(f.library.dir, surfaceFile))
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "libother.so")
	require.NoError(t, os.WriteFile(copied, text, 0o700))
	other, err := dynamic.Load(copied, copied)
	require.NoError(t, err)
	ours := map[uint32]bool{}
	for range 8 {
		ours[opened(t, plane, f.Surfaces()).ID()] = true
	}
	collided := false
	for range 8 {
		b := opened(t, plane, blockoption.On(other))
		collided = collided || ours[b.ID()]
		_, err := f.surfaceOf(b)
		require.ErrorIs(t, err, ane.ErrMismatch)
		require.ErrorContains(t, err, "another library")
	}
	t.Log("some ids were used by both libraries:", collided)
}

func TestMakingASurfaceFails(t *testing.T) {
	if !host.ShareByFD {
		t.Skip("Blocks are no memfds, of which the stand-in makes surfaces")
	}
	f := started(t)
	b := opened(t, plane)
	for _, function := range []string{"IOSurfaceGetBaseAddress", "IOSurfaceGetID"} {
		require.NoError(t, f.FailSurface(function, 1))
		_, err := f.surfaceOf(b)
		require.ErrorIs(t, err, ane.ErrEngine)
		require.ErrorContains(t, err, function)
		require.Empty(t, f.Leftovers())
	}
	for _, function := range []string{"IOSurfaceLock", "IOSurfaceUnlock"} {
		require.NoError(t, f.FailSurface(function, 1))
		s, err := f.surfaceOf(b)
		require.NoError(t, err)
		require.NoError(t, s.Release(), "a single failure is retried")
		require.Empty(t, f.Leftovers())
	}
}

// TestServerOnSurfaces: on real surfaces the server copies nothing and holds no
// lock that the CPU's side could observe.
func TestServerOnSurfaces(t *testing.T) {
	f := started(t)
	h, err := f.server.compile(write(t, map[string]string{"model.mil": addition}))
	require.NoError(t, err)
	defer f.server.DropProgram(h)
	a, b, y := opened(t, plane, f.Surfaces()), opened(t, plane, f.Surfaces()), opened(t, plane,
		f.Surfaces())
	fill(a.Bytes(), 9)
	fill(b.Bytes(), 4)
	live := unimem.Live().Blocks
	in, out := []uint32{a.ID(), b.ID()}, []uint32{y.ID()}
	require.Equal(t, done, f.server.evaluate(h, 0, 1, in, out))
	require.Equal(t, filled(5), y.Bytes()[:plane])
	require.EqualValues(t, 3, f.SurfaceCounts().Locks, "the locks of the Blocks")
	more := unimem.Live().Blocks - live
	require.True(t, more == 3 || more == 4, "the Blocks of the request, and the program's scratch memory if any: %d",
		more)
	require.Zero(t, testing.AllocsPerRun(100, func() { f.server.evaluate(h, 0, 1, in, out) }))
	f.server.DropRequest(1)
	require.Equal(t, live, unimem.Live().Blocks)
	require.EqualValues(t, 3, f.SurfaceCounts().Locks)
	require.Equal(t, mapRefused, f.server.evaluate(h, 0, 2, []uint32{a.ID(), 0xfffffff}, out))
}

func TestServerOnShortSurfaces(t *testing.T) {
	f := started(t)
	h, err := f.server.compile(write(t, map[string]string{"model.mil": functions(
		`func main<ios18>(tensor<fp16, [1, 4, 300, 32]> x) { tensor<fp16, [1, 4, 300, 32]> y = add(x = x, y = x)[name = string("y")]; } -> (y);`)}))
	require.NoError(t, err)
	defer f.server.DropProgram(h)
	short, long := opened(t, 4*300*64-16384, f.Surfaces()), opened(t, 4*300*64, f.Surfaces())
	require.Equal(t, tooShort, f.server.evaluate(h, 0, 1, []uint32{short.ID()}, []uint32{long.ID()}))
	require.Equal(t, tooShort, f.server.evaluate(h, 0, 1, []uint32{long.ID()}, []uint32{short.ID()}))
	require.EqualValues(t, 2, f.SurfaceCounts().Locks)
}

// TestServerWhenSurfacesFail makes each IOSurface call of a binding fail in turn
// and checks that nothing is left. Releasing a surface retries a lock that fails
// once.
func TestServerWhenSurfacesFail(t *testing.T) {
	f := started(t)
	h, err := f.server.compile(write(t, map[string]string{"model.mil": addition}))
	require.NoError(t, err)
	defer f.server.DropProgram(h)
	x, y := opened(t, plane, f.Surfaces()), opened(t, plane, f.Surfaces())
	in, out := []uint32{x.ID(), x.ID()}, []uint32{y.ID()}
	before := f.SurfaceCounts()
	for _, function := range []string{"IOSurfaceLookup", "IOSurfaceLock", "IOSurfaceGetBaseAddress",
		"IOSurfaceGetAllocSize", "IOSurfaceGetID", "IOSurfaceUnlock"} {
		for nth := 1; nth <= 6; nth++ {
			t.Run(fmt.Sprint(function, nth), func(t *testing.T) {
				require.NoError(t, f.FailSurface(function, nth))
				got := f.server.evaluate(h, 0, 1, in, out)
				require.NoError(t, f.FailSurface(function, 0))
				if function == "IOSurfaceUnlock" {
					require.Equal(t, done, got, "the call is retried")
					f.server.DropRequest(1)
				} else {
					require.Contains(t, []status{mapRefused, tooShort}, got,
						"3 surfaces, each looked up twice, call each function at least 6 times")
				}
				require.Empty(t, f.server.requests)
				now := f.SurfaceCounts()
				require.Equal(t, before.Locks, now.Locks)
				require.Equal(t, before.Objects, now.Objects)
			})
		}
	}
	require.Equal(t, done, f.server.evaluate(h, 0, 1, in, out))
	require.NoError(t, f.FailSurface("IOSurfaceLock", 2))
	f.server.DropRequest(1)
	require.Equal(t, before.Locks, f.SurfaceCounts().Locks)
}
