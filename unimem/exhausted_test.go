package unimem_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

// kept are idle Blocks.
type kept []*unimem.Block

// free closes them all; it is a function for OnExhausted.
func (k *kept) free() int {
	n := 0
	for _, b := range *k {
		if b.Close() == nil {
			n++
		}
	}
	*k = nil
	return n
}

// keep opens n Blocks that free may close.
func (k *kept) keep(t *testing.T, n int, opts ...unimem.Option) {
	t.Helper()
	for range n {
		b, err := unimem.Open(page, opts...)
		require.NoError(t, err)
		*k = append(*k, b)
	}
}

// whenExhausted registers free until the end of the test.
func whenExhausted(t *testing.T, free func() int) {
	t.Cleanup(unimem.OnExhausted(free))
}

// openers are the calls that create surfaces, with the number of surfaces.
var openers = map[string]struct {
	surfaces int
	open     func(o unimem.Option) (io.Closer, error)
}{
	"block": {1, func(o unimem.Option) (io.Closer, error) { return unimem.Open(1, o) }},
	"tape":  {1, func(o unimem.Option) (io.Closer, error) { return unimem.Start(1, o) }},
	"grid":  {1, func(o unimem.Option) (io.Closer, error) { return unimem.NewGrid(64, 3, o) }},
	"cells": {3, func(o unimem.Option) (io.Closer, error) {
		return unimem.NewGrid(64, 3, o, unimem.SurfacePerCell())
	}},
	"layout": {3, func(o unimem.Option) (io.Closer, error) { return unimem.NewLayout(1, 1, 1, o) }},
}

// As in public reports: calls succeed, then many fail, then they succeed again.
func TestExhaustionIsTemporaryAndLeaksNothing(t *testing.T) {
	const failures = 100
	for name, o := range openers {
		for nth := 1; nth <= o.surfaces; nth++ {
			t.Run(name, func(t *testing.T) {
				f := surfacetest.New(t)
				option := blockoption.On(f.Table())
				live := unimem.Live()
				for range 3 {
					c, err := o.open(option)
					require.NoError(t, err)
					require.NoError(t, c.Close())
				}
				f.FailMany("IOSurfaceCreate", nth, failures)
				for range failures {
					c, err := o.open(option)
					require.Nil(t, c)
					require.ErrorIs(t, err, unimem.ErrExhausted)
					require.ErrorIs(t, err, unimem.ErrCreate)
					require.NotErrorIs(t, err, unimem.ErrLock)
					require.ErrorContains(t, err, "IOSurfaceCreate")
					require.Zero(t, f.Count())
					require.Equal(t, live, unimem.Live())
				}
				c, err := o.open(option)
				require.NoError(t, err, "calls succeed again")
				require.Equal(t, o.surfaces, f.Count().Surfaces)
				require.NoError(t, c.Close())
				require.Zero(t, f.Count())
			})
		}
	}
}

// Refusals that are exhaustion, and others.
func TestWhatIsExhaustion(t *testing.T) {
	const noMemory, noSpace, cannotLock = -0x1ffffd43, 3, -0x1ffffd34 // of IOReturn.h and kern_return.h
	for _, c := range []struct {
		call string
		code int32
		kind error
		want bool
	}{
		{"CFDictionaryCreateMutable", 0, unimem.ErrCreate, true},
		{"CFNumberCreate", 0, unimem.ErrCreate, true},
		{"IOSurfaceCreate", 0, unimem.ErrCreate, true},
		{"IOSurfaceGetBaseAddress", 0, unimem.ErrLock, true},
		{"IOSurfaceLock", noMemory, unimem.ErrLock, true},
		{"IOSurfaceLock", noSpace, unimem.ErrLock, true},
		{"IOSurfaceLock", cannotLock, unimem.ErrLock, false},
		{"IOSurfaceGetAllocSize", 0, unimem.ErrCreate, false},
		{"IOSurfaceGetID", 0, unimem.ErrCreate, false},
	} {
		f := surfacetest.New(t)
		asked := 0
		cancel := unimem.OnExhausted(func() int { asked++; return 0 })
		f.FailWith(c.call, 1, 1, c.code)
		_, err := unimem.Open(1, blockoption.On(f.Table()))
		cancel()
		require.ErrorIs(t, err, c.kind, c.call)
		require.ErrorContains(t, err, c.call)
		require.Equal(t, 1, f.Calls(c.call), "nothing was freed, so the call is not retried")
		if c.want {
			require.ErrorIs(t, err, unimem.ErrExhausted, c.call)
			require.ErrorContains(t, err, "open in this process")
			require.Equal(t, 1, asked)
		} else {
			require.NotErrorIs(t, err, unimem.ErrExhausted, c.call)
			require.Zero(t, asked, "freeing memory does not help")
		}
		require.Zero(t, f.Count())
	}
}

// The error has what is open and how to fix it.
func TestExhaustionErrorListsWhatIsOpen(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	var held kept
	held.keep(t, 2, option)
	m, err := unimem.Map(held[0])
	require.NoError(t, err)
	f.Limit(2)
	require.Equal(t, unimem.Stats{Blocks: 2, Bytes: 2 * page, Mappings: 1, Forgotten: unimem.Live().Forgotten,
		Unbalanced: unimem.Live().Unbalanced}, unimem.Live())
	_, err = unimem.Open(page, option)
	require.EqualError(t, err, "unimem: open of 16384 bytes: cannot create shared memory: "+
		"the system gives no more memory for now: IOSurfaceCreate: returned no surface: out of memory, or beyond "+
		"the "+
		"limit of the system; open in this process: Blocks 2 (32768 bytes), Mappings 1; close idle surfaces, "+
		"open fewer, or retry later: other processes use surfaces too")
	whenExhausted(t, func() int { return 3 }) // a wrong number, or of another kind
	_, err = unimem.Open(page, option)
	require.ErrorContains(t, err, "Mappings 1, idle surfaces freed 3; close")
	require.NoError(t, m.Close())
	require.Equal(t, 2, held.free())
}

// Every call that opens memory succeeds after idle memory is freed.
func TestRecovery(t *testing.T) {
	for name, o := range openers {
		t.Run(name, func(t *testing.T) {
			f := surfacetest.New(t)
			option := blockoption.On(f.Table())
			var idle kept
			whenExhausted(t, idle.free)
			idle.keep(t, o.surfaces, option)
			f.Limit(o.surfaces)
			c, err := o.open(option)
			require.NoError(t, err)
			require.Empty(t, idle)
			require.Equal(t, o.surfaces, f.Count().Surfaces)
			require.NoError(t, c.Close())
			require.Zero(t, f.Count())
		})
	}
}

func TestRecoveryOfMapAndAdopt(t *testing.T) {
	f := surfacetest.New(t)
	table := f.Table()
	option := blockoption.On(table)
	b, err := unimem.Open(page, option)
	require.NoError(t, err)
	one := f.Count()
	live := unimem.Live()
	calls := map[string]func() (io.Closer, error){
		"map":   func() (io.Closer, error) { return unimem.Map(b) },
		"adopt": func() (io.Closer, error) { return unimem.AdoptSurface(b.ID(), page, option) },
	}
	for name, call := range calls {
		const noResources = -0x1ffffd42 // kIOReturnNoResources
		t.Run(name, func(t *testing.T) {
			f.FailWith("IOSurfaceLock", 1, 5, noResources)
			for range 5 {
				c, err := call()
				require.Nil(t, c)
				require.ErrorIs(t, err, unimem.ErrExhausted)
				require.ErrorIs(t, err, unimem.ErrLock)
				require.Equal(t, one, f.Count())
				require.Equal(t, live, unimem.Live())
			}
			whenExhausted(t, func() int { return 1 })
			f.FailWith("IOSurfaceLock", 1, 1, noResources)
			c, err := call()
			require.NoError(t, err)
			require.NoError(t, c.Close())
			require.Equal(t, one, f.Count())
		})
	}
	// The surface of an open Block exists; one adopted by id may not.
	f.FailMany("IOSurfaceLookup", 1, 2)
	_, err = calls["map"]()
	require.ErrorIs(t, err, unimem.ErrExhausted)
	_, err = calls["adopt"]()
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.NotErrorIs(t, err, unimem.ErrExhausted)
	require.NoError(t, b.Close(), "a refused Map does not hold the Block")
}

// The functions are called once per refused call, in order, and the call is retried once.
func TestHoldersAreCalledInOrder(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	var order []string
	note := func(name string, freed int) func() int {
		return func() int { order = append(order, name); return freed }
	}
	cancelFirst := unimem.OnExhausted(note("first", -5)) // a negative number counts as 0
	whenExhausted(t, note("second", 0))
	unimem.OnExhausted(nil)()
	var cancelOther func()
	whenExhausted(t, func() int {
		cancelOther()
		unimem.OnExhausted(note("too late", 1))()
		return 0
	})
	cancelOther = unimem.OnExhausted(note("cancelled before its turn", 1))

	f.FailMany("IOSurfaceCreate", 1, 2)
	_, err := unimem.Open(1, option)
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.Equal(t, []string{"first", "second"}, order)
	require.Equal(t, 1, f.Calls("IOSurfaceCreate"), "nothing was freed: the call is not retried")

	whenExhausted(t, note("third", 1))
	order = nil
	f.FailMany("IOSurfaceCreate", 1, 2)
	_, err = unimem.Open(1, option)
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.Equal(t, []string{"first", "second", "third"}, order)
	require.Equal(t, 3, f.Calls("IOSurfaceCreate"), "retried once")

	cancelFirst()
	cancelFirst()
	order = nil
	f.FailMany("IOSurfaceCreate", 1, 2)
	_, err = unimem.Open(1, option)
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.Equal(t, []string{"second", "third"}, order)
}

// A panic reaches the caller, and the refused call leaks nothing.
func TestPanicOfHolder(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	live := unimem.Live()
	cancel := unimem.OnExhausted(func() int { panic("holder") })
	for name, o := range openers {
		f.Fail("IOSurfaceCreate", o.surfaces)
		require.PanicsWithValue(t, "holder", func() { _, _ = o.open(option) }, name)
		require.Zero(t, f.Count(), name)
		require.Equal(t, live, unimem.Live(), name)
	}
	b, err := unimem.Open(page, option)
	require.NoError(t, err)
	f.Fail("IOSurfaceGetBaseAddress", 1)
	require.PanicsWithValue(t, "holder", func() { _, _ = unimem.Map(b) })
	cancel()
	f.Fail("IOSurfaceGetBaseAddress", 1)
	_, err = unimem.Map(b)
	require.ErrorIs(t, err, unimem.ErrExhausted, "the round with the panic has ended")
	require.NoError(t, b.Close())
}

// A panic in NewLayoutOn releases the Tape of weights.
func TestPanicOfHolderReleasesWeights(t *testing.T) {
	f := surfacetest.New(t)
	option := blockoption.On(f.Table())
	weights, err := unimem.Start(page, option)
	require.NoError(t, err)
	whenExhausted(t, func() int { panic("holder") })
	for nth := 1; nth <= 2; nth++ {
		f.Fail("IOSurfaceCreate", nth)
		require.PanicsWithValue(t, "holder", func() { _, _ = unimem.NewLayoutOn(weights, 1, 1, option) })
		require.Equal(t, 1, f.Count().Surfaces)
	}
	require.NoError(t, weights.Close())
}

// Take opens a Block without holding the lock of its Tape: other goroutines use the Tape meanwhile.
func TestTakeOpensBlocksUnlocked(t *testing.T) {
	f := surfacetest.New(t)
	tape := start(t, 0, blockoption.On(f.Table()), unimem.InBlocks(page))
	first, err := tape.Take(100, 1)
	require.NoError(t, err)
	used := make(chan int, 1)
	whenExhausted(t, func() int {
		go func() {
			_, _ = tape.Take(page-100, 1)
			_ = tape.Owns(first)
			used <- tape.Used()
		}()
		select {
		case n := <-used:
			used <- n
			return 1
		case <-time.After(10 * time.Second):
			return 0
		}
	})
	f.Fail("IOSurfaceCreate", 1)
	second, err := tape.Take(page, 1)
	require.NoError(t, err, "the function of OnExhausted has used the Tape")
	require.Equal(t, page, <-used)
	require.True(t, tape.Taken(second))
}
