package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

func TestShareWithoutDescriptor(t *testing.T) {
	for kind, hint := range map[string]string{"heap": "without OnHeap", "surface": "SharePort"} {
		b, err := unimem.Open(page, memories[kind](t))
		require.NoError(t, err)
		f, err := b.Share()
		require.ErrorIs(t, err, unimem.ErrShare)
		require.ErrorContains(t, err, hint)
		require.Nil(t, f)
		require.NoError(t, b.Close(), "Share does not retain the Block")
	}
}

func TestShareAfterClose(t *testing.T) {
	overMemories(t, func(t *testing.T, option unimem.Option) {
		b, err := unimem.Open(page, option)
		require.NoError(t, err)
		require.NoError(t, b.Close())
		for _, b := range []*unimem.Block{b, nil, {}} {
			_, err = b.Share()
			require.ErrorIs(t, err, unimem.ErrClosed)
			_, err = b.SharePort()
			require.ErrorIs(t, err, unimem.ErrClosed)
		}
	})
}

func TestPorts(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	live := unimem.Live()
	b, err := unimem.Open(page, option)
	require.NoError(t, err)
	b.Bytes()[3] = 33
	p, err := b.SharePort()
	require.NoError(t, err)
	require.NotZero(t, p.Name())
	counted := unimem.Live()
	a, err := unimem.AdoptPort(p.Name(), 100, option, unimem.Warm())
	require.NoError(t, err)
	require.Equal(t, counted.Bytes, unimem.Live().Bytes, "the memory is its maker's")
	require.Equal(t, counted.Blocks+1, unimem.Live().Blocks)
	require.Equal(t, 100, a.Size())
	require.Equal(t, b.ID(), a.ID())
	require.NoError(t, b.Close())
	require.EqualValues(t, 33, a.Bytes()[3])

	again, err := a.SharePort()
	require.NoError(t, err, "what was adopted can be shared")
	require.NoError(t, again.Close())
	_, err = unimem.AdoptPort(p.Name(), page+1, option)
	require.ErrorIs(t, err, unimem.ErrSize)
	_, err = unimem.AdoptPort(p.Name()+1, page, option)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorContains(t, err, "IOSurfaceLookupFromMachPort")
	for _, size := range []int{0, -1} {
		_, err = unimem.AdoptPort(p.Name(), size, option)
		require.Error(t, err)
	}
	_, err = unimem.AdoptPort(p.Name(), page, option, unimem.OnHeap())
	require.ErrorIs(t, err, unimem.ErrOption)
	_, err = unimem.AdoptPort(p.Name(), page, blockoption.On(nil))
	require.ErrorIs(t, err, unimem.ErrOption)

	name := p.Name()
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	require.Zero(t, p.Name())
	require.NoError(t, (*unimem.Port)(nil).Close())
	require.Zero(t, (*unimem.Port)(nil).Name())
	_, err = unimem.AdoptPort(name, 1, option)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	require.Equal(t, live, unimem.Live())
}

func TestPortFailures(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	b, err := unimem.Open(page, option)
	require.NoError(t, err)
	f.Fail("IOSurfaceCreateMachPort", 1)
	_, err = b.SharePort()
	require.ErrorIs(t, err, unimem.ErrCreate)
	p, err := b.SharePort()
	require.NoError(t, err)
	for _, call := range []string{"IOSurfaceLookupFromMachPort", "IOSurfaceLock", "IOSurfaceGetBaseAddress",
		"IOSurfaceGetAllocSize", "IOSurfaceGetID"} {
		f.Fail(call, 1)
		_, err = unimem.AdoptPort(p.Name(), page, option)
		require.ErrorContains(t, err, call)
	}
	f.Fail("mach_port_deallocate", 1)
	require.ErrorIs(t, p.Close(), unimem.ErrRelease)
	require.NoError(t, p.Close(), "closed nevertheless")
	require.NoError(t, b.Close())
}

// A library for another system has surfaces but no ports.
func TestNoPorts(t *testing.T) {
	table := surfacetest.New(t).Table()
	table.CreateMachPort = nil
	option := blockoption.On(table)
	for _, option := range []unimem.Option{option, unimem.OnHeap()} {
		b, err := unimem.Open(page, option)
		require.NoError(t, err)
		_, err = b.SharePort()
		require.ErrorIs(t, err, unimem.ErrShare)
		require.NoError(t, b.Close())
	}
	_, err := unimem.AdoptPort(1, page, option)
	require.ErrorIs(t, err, unimem.ErrShare)
	require.Error(t, iosurface.ClosePort(table, 1))
	_, err = iosurface.LookupPort(table, 1, page)
	require.ErrorContains(t, err, "no mach ports")
}
