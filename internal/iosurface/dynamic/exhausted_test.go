//go:build linux && cgo

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// scarce are the calls whose failure means lack of memory.
var scarce = []string{"CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate", "IOSurfaceGetBaseAddress"}

// Hundreds of calls succeed, thousands are refused, then calls succeed again: nothing leaks.
func TestExhaustionPasses(t *testing.T) {
	s := gated(t)
	const good, refused = 388, 6157 // as public reports have it
	run := func() error {
		b, err := unimem.Open(1, s.Option())
		if err == nil {
			err = b.Close()
		}
		return err
	}
	for range good {
		require.NoError(t, run())
	}
	for range refused {
		s.fail("IOSurfaceCreate", 1)
		require.ErrorIs(t, run(), unimem.ErrExhausted)
	}
	require.Zero(t, s.now().alive())
	require.NoError(t, run())
}

// Each call that allocates fails in each surface: once, and the retry succeeds after memory is
// freed; twice, and the retry fails.
func TestExhaustionInEverySurface(t *testing.T) {
	s := gated(t)
	for name, m := range makers {
		for _, call := range scarce {
			for nth := range int32(m.surfaces) {
				again := int32(0) // the call that fails after freeing, 0 for none
				asked := 0
				cancel := unimem.OnExhausted(func() int {
					asked++
					s.fail(call, again)
					return 1
				})
				s.fail(call, nth+1)
				c, err := m.open(s.Option())
				require.NoError(t, err, "%s %s", name, call)
				require.Equal(t, 1, asked)
				require.NoError(t, c.Close())
				require.Zero(t, s.now().alive())

				again = 1
				s.fail(call, nth+1)
				_, err = m.open(s.Option())
				require.ErrorIs(t, err, unimem.ErrExhausted, "%s %s", name, call)
				require.ErrorContains(t, err, "idle surfaces freed 1")
				require.Equal(t, 2, asked)
				require.Zero(t, s.now().alive())
				cancel()
			}
		}
	}
	require.Zero(t, unimem.Live().Blocks)
}

// The refused call succeeds after the function has closed an idle Block.
func TestExhaustionOfMapAndAdopt(t *testing.T) {
	s := gated(t)
	b, err := unimem.Open(1, s.Option())
	require.NoError(t, err)
	one := s.now().alive()
	var idle *unimem.Block
	free := func() int {
		if idle == nil {
			return 0
		}
		require.NoError(t, idle.Close())
		idle = nil
		return 1
	}
	t.Cleanup(unimem.OnExhausted(free))
	for name, call := range map[string]func() (interface{ Close() error }, error){
		"map":   func() (interface{ Close() error }, error) { return unimem.Map(b) },
		"adopt": func() (interface{ Close() error }, error) { return s.Adopt(b.ID(), page) },
	} {
		s.fail("IOSurfaceGetBaseAddress", 1)
		_, err := call()
		require.ErrorIs(t, err, unimem.ErrExhausted, name)
		require.ErrorIs(t, err, unimem.ErrLock, name)
		require.Equal(t, one, s.now().alive())

		idle, err = unimem.Open(1, s.Option())
		require.NoError(t, err)
		s.fail("IOSurfaceGetBaseAddress", 1)
		c, err := call()
		require.NoError(t, err, name)
		require.Nil(t, idle)
		require.NoError(t, c.Close())
		require.Equal(t, one, s.now().alive())
	}
	require.NoError(t, b.Close())
}
