package wasm_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/internal/guestbuild"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/wasm"
)

const limit = 8 << 20

// guest is an instance of testdata/memory.wat.
type guest struct {
	t *testing.T
	api.Module
	memory *wasm.Memory
	called func() // by the guest's import
}

func newGuest(t *testing.T, limit int) *guest {
	t.Helper()
	g := &guest{t: t, called: func() {}}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	t.Cleanup(func() { require.NoError(t, r.Close(ctx)) })
	_, err := r.NewHostModuleBuilder("host").NewFunctionBuilder().WithFunc(func() { g.called() }).Export("call").
		Instantiate(ctx)
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/memory.wasm")
	require.NoError(t, err)
	code, err := r.CompileModule(ctx, text)
	require.NoError(t, err)
	g.Module, g.memory, err = wasm.Instantiate(ctx, r, code, wazero.NewModuleConfig(), limit)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, g.Module.Close(ctx))
		require.NoError(t, g.memory.Close())
	})
	return g
}

func (g *guest) call(name string, args ...uint64) uint64 {
	g.t.Helper()
	results, err := g.ExportedFunction(name).Call(context.Background(), args...)
	require.NoError(g.t, err)
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

func TestGuestsAreWhatTheirSourcesBuild(t *testing.T) { guestbuild.Same(t, "testdata/memory.wat") }

func TestMemoryIsOneBlockThatDoesNotMove(t *testing.T) {
	g := newGuest(t, limit)
	require.Equal(t, limit, g.memory.Reserved())
	require.Equal(t, wasm.PageSize, g.memory.Size())
	address := g.memory.Address()
	require.Equal(t, g.memory.Block().Address(), address)
	g.call("store", 1000, 0x01020304)
	require.Equal(t, []byte{4, 3, 2, 1}, g.memory.Block().Bytes()[1000:1004])

	require.EqualValues(t, 1, g.call("grow", 99))
	require.Equal(t, 100*wasm.PageSize, g.memory.Size())
	require.Equal(t, address, g.memory.Address())
	g.call("store", 100*wasm.PageSize-4, 7)
	require.EqualValues(t, 7, g.memory.Block().Bytes()[100*wasm.PageSize-4])
	seen, ok := g.Memory().Read(1000, 4)
	require.True(t, ok)
	require.Equal(t, address+1000, uintptr(unsafe.Pointer(&seen[0])))

	require.Equal(t, uint32(math.MaxUint32), uint32(g.call("grow", 100)), "the limit is 128 pages")
	require.Equal(t, 100*wasm.PageSize, g.memory.Size())
	require.EqualValues(t, 100, g.call("grow", 28))
}

// Reserved memory takes no pages before the guest touches them.
func TestMemoryIsCommittedAsItIsTouched(t *testing.T) {
	if !host.ProcessMemory {
		t.Skip("only Linux reports the pages of a mapping")
	}
	resident := func(g *guest) (n int64) {
		require.NoError(t, procmem.Mappings(0, func(m *procmem.Mapping) {
			if m.Start <= uint64(g.memory.Address()) && uint64(g.memory.Address()) < m.End {
				n = m.Resident
			}
		}))
		return n
	}
	g := newGuest(t, 64<<20)
	require.EqualValues(t, 1, g.call("grow", 1023))
	require.Less(t, resident(g), int64(64<<10))
	g.call("fill", 1<<20, 1, 1<<20)
	require.InDelta(t, 1<<20, float64(resident(g)), 64<<10)
}

// What lies outside of Touched is zeros, and looking for it takes no memory.
func TestTouchedIsWhatTheGuestHasWritten(t *testing.T) {
	g := newGuest(t, 64<<20)
	require.EqualValues(t, 1, g.call("grow", 1023))
	g.call("store", 5<<20, 1)
	g.call("store", 64<<20-4, 2)
	if !host.Touched {
		require.Equal(t, []wasm.Extent{{From: 0, To: 64 << 20}}, g.memory.Touched())
		return
	}
	r, err := g.memory.OnSurface(1<<20, wasm.Align)
	require.NoError(t, err)
	defer r.Close()
	page := uint64(os.Getpagesize())
	touched := g.memory.Touched()
	require.Equal(t, []wasm.Extent{{From: 1 << 20, To: 1<<20 + wasm.Align}, {From: 5 << 20, To: 5<<20 + page},
		{From: 64<<20 - page, To: 64 << 20}}, touched)
	all := g.memory.Block().Bytes()
	for at := uint64(0); at < uint64(len(all)); at += page {
		for len(touched) > 0 && touched[0].To <= at {
			touched = touched[1:]
		}
		if len(touched) == 0 || at < touched[0].From {
			require.Equal(t, make([]byte, page), all[at:at+page], at)
		}
	}
}

func TestMemoryGrowsDuringACallAndTheBaseStays(t *testing.T) {
	g := newGuest(t, limit)
	g.called = func() {
		before, ok := g.Memory().Grow(3)
		require.True(t, ok)
		require.EqualValues(t, 1, before)
		b, err := g.memory.Range(4*wasm.PageSize-4, 4)
		require.NoError(t, err)
		b[0] = 9
		binary.LittleEndian.PutUint32(g.memory.Block().Bytes()[64:], 77)
	}
	require.EqualValues(t, 77, g.call("around", 64, 5))
	require.EqualValues(t, 9, g.call("load", 4*wasm.PageSize-4))
}

func TestGuestsBeyondTheLimitAreRefused(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err := r.NewHostModuleBuilder("host").NewFunctionBuilder().WithFunc(func() {}).Export("call").Instantiate(ctx)
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/memory.wasm")
	require.NoError(t, err)
	text = append([]byte(nil), text...)
	// The limits of the memory section: flag 1, 1 page at first, 1024 at most.
	at := indexOf(text, []byte{5, 5, 1, 1, 1, 0x80, 8})
	require.Positive(t, at)
	text[at+4] = 3
	code, err := r.CompileModule(ctx, text)
	require.NoError(t, err)
	for _, limit := range []int{-1, 0, wasm.PageSize - 1, wasm.PageSize, 3*wasm.PageSize - 1} {
		module, memory, err := wasm.Instantiate(ctx, r, code, wazero.NewModuleConfig().WithName(""), limit)
		require.ErrorIs(t, err, wasm.ErrLimit)
		require.Nil(t, module)
		require.Nil(t, memory)
		require.Zero(t, unimem.Live().Blocks)
	}
	module, memory, err := wasm.Instantiate(ctx, r, code, wazero.NewModuleConfig().WithName(""), 3*wasm.PageSize)
	require.NoError(t, err)
	require.Equal(t, 3*wasm.PageSize, memory.Size())
	require.NoError(t, module.Close(ctx))
	require.NoError(t, memory.Close())
}

func indexOf(b, part []byte) int {
	for i := range len(b) - len(part) {
		if string(b[i:i+len(part)]) == string(part) {
			return i
		}
	}
	return -1
}

// Every range that a guest may name is checked against what it has, not against what is reserved.
func TestLyingGuests(t *testing.T) {
	g := newGuest(t, limit)
	for _, c := range [][2]uint64{
		{wasm.PageSize, 1}, {wasm.PageSize - 1, 2}, {0, wasm.PageSize + 1}, {math.MaxUint32, 1}, {math.MaxUint64, 1},
		{1, math.MaxUint64}, {math.MaxUint64, math.MaxUint64}, {limit - wasm.Align, wasm.Align}, {1 << 63, 1 << 63},
	} {
		_, err := g.memory.Range(c[0], c[1])
		require.ErrorIs(t, err, wasm.ErrBounds, "%v", c)
		_, err = g.memory.InPlace(c[0], c[1])
		require.ErrorIs(t, err, wasm.ErrBounds, "%v", c)
		_, err = g.memory.OnSurface(c[0], c[1])
		require.ErrorIs(t, err, wasm.ErrBounds, "%v", c)
	}
	empty, err := g.memory.Range(wasm.PageSize, 0)
	require.NoError(t, err)
	require.Empty(t, empty)
}

func TestUnalignedSurfacesNameTheAlignment(t *testing.T) {
	g := newGuest(t, limit)
	for _, c := range [][2]uint64{{4, wasm.Align}, {wasm.Align, 100}, {4096, wasm.Align}, {0, 0}} {
		_, err := g.memory.OnSurface(c[0], c[1])
		require.ErrorIs(t, err, wasm.ErrAligned)
		require.ErrorContains(t, err, "multiples of 16384")
		require.ErrorContains(t, err, "use offset")
	}
}

func needSurfaces(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, wasm.ErrUnsupported) && !host.Unmap {
		t.Skip("this system maps no surface over memory")
	}
	require.NoError(t, err)
}

func TestSurfacesAreTheGuestsMemory(t *testing.T) {
	g := newGuest(t, limit)
	g.call("grow", 10)
	const at, n = 2 * wasm.Align, 3 * wasm.Align
	g.call("store", at-4, 1)
	g.call("store", at+4, 2) // one page of four KiB is moved
	g.call("store", at+n, 3)
	r, err := g.memory.OnSurface(at, n)
	needSurfaces(t, err)
	require.EqualValues(t, os.Getpagesize(), g.memory.Copied(), "of what the guest has written, one page")
	require.Equal(t, []int{0, n}, []int{r.Offset(), r.Block().Size()})
	require.EqualValues(t, 2, g.call("load", at+4), "what was there stays")

	surface := r.Block().Bytes()
	require.NotEqual(t, g.memory.Address()+at, r.Block().Address())
	for p := 0; p < n; p += 4096 {
		g.call("store", uint64(at+p), uint64(p+1))
		require.EqualValues(t, p+1, binary.LittleEndian.Uint32(surface[p:]))
		binary.LittleEndian.PutUint32(surface[p:], uint32(p+2))
		require.EqualValues(t, p+2, g.call("load", uint64(at+p)))
	}
	require.EqualValues(t, 1, g.call("load", at-4))
	require.EqualValues(t, 3, g.call("load", at+n))
	require.EqualValues(t, os.Getpagesize(), g.memory.Copied())

	same, err := g.memory.OnSurface(at, n)
	require.NoError(t, err)
	require.Same(t, r.Block(), same.Block())
	_, err = g.memory.OnSurface(at+wasm.Align, n)
	require.ErrorIs(t, err, wasm.ErrOverlap)
	_, err = g.memory.InPlace(at+4, 4)
	require.ErrorIs(t, err, wasm.ErrOverlap)

	r.Close()
	r.Close()
	_, err = g.memory.InPlace(at, 4)
	require.ErrorIs(t, err, wasm.ErrOverlap, "another region has it")
	same.Close()
	other, err := g.memory.OnSurface(at+wasm.Align, n)
	require.NoError(t, err)
	require.EqualValues(t, wasm.Align+2, g.call("load", at+wasm.Align), "an idle surface gives back what it holds")
	require.EqualValues(t, 2, g.call("load", at))
	other.Close()
	place, err := g.memory.InPlace(at+wasm.Align, 4)
	require.NoError(t, err)
	require.EqualValues(t, wasm.Align+2, binary.LittleEndian.Uint32(place.Block().Bytes()[place.Offset():]))
	_, err = g.memory.OnSurface(at, n)
	require.ErrorIs(t, err, wasm.ErrOverlap, "an engine that maps the Block by its handle would see other pages")
	require.ErrorContains(t, err, "close the requests that use it first")
	beside, err := g.memory.OnSurface(at, wasm.Align)
	require.NoError(t, err)
	beside.Close()
	place.Close()
}

// A surface does not take the memory of its range twice.
func TestSurfacesGiveTheGuestsPagesBack(t *testing.T) {
	g := newGuest(t, limit)
	g.call("grow", 100)
	const n = 4 << 20
	g.call("fill", 0, 1, n)
	r, err := g.memory.OnSurface(0, n)
	needSurfaces(t, err)
	defer r.Close()
	require.EqualValues(t, n, g.memory.Copied())
	if !host.Remap {
		t.Skip("a Block has one mapping here, and the pages under a surface keep their memory")
	}
	m, err := unimem.Map(g.memory.Block())
	require.NoError(t, err)
	defer m.Close()
	require.Zero(t, m.Bytes()[0], "the guest's own pages are holes again")
	require.EqualValues(t, 0x01010101, g.call("load", n-4))
}

// The memory of a guest that has ended stays for as long as a region holds it.
func TestRegionsOutliveTheGuest(t *testing.T) {
	for _, kind := range []string{"place", "surface"} {
		t.Run(kind, func(t *testing.T) {
			g := newGuest(t, limit)
			g.call("store", 0, 42)
			make := g.memory.InPlace
			if kind == "surface" {
				make = g.memory.OnSurface
			}
			r, err := make(0, wasm.Align)
			needSurfaces(t, err)
			g.called = func() { require.NoError(t, g.Module.CloseWithExitCode(context.Background(), 3)) }
			_, err = g.ExportedFunction("trap").Call(context.Background())
			require.Error(t, err)
			require.Zero(t, g.memory.Size())
			require.EqualValues(t, 42, r.Block().Bytes()[r.Offset()])
			require.ErrorIs(t, g.memory.Close(), unimem.ErrInUse)
			_, err = g.memory.Range(0, 1)
			require.ErrorIs(t, err, wasm.ErrClosed)
			_, err = g.memory.InPlace(0, 1)
			require.ErrorIs(t, err, wasm.ErrClosed)
			r.Close()
			require.NoError(t, g.memory.Close())
			require.Zero(t, unimem.Live().Blocks)
		})
	}
}

// A tensor's holder keeps the memory too, also after the region is closed.
func TestRetainedMemoryIsFreedByALaterClose(t *testing.T) {
	g := newGuest(t, limit)
	r, err := g.memory.InPlace(0, 64)
	require.NoError(t, err)
	require.NoError(t, r.Block().Retain())
	r.Close()
	require.NoError(t, g.Module.Close(context.Background()))
	require.ErrorIs(t, g.memory.Close(), unimem.ErrInUse)
	g.memory.Block().Release()
	require.NoError(t, g.memory.Close())
}

func TestTrapsLeaveTheMemory(t *testing.T) {
	g := newGuest(t, limit)
	_, err := g.ExportedFunction("trap").Call(context.Background())
	require.ErrorContains(t, err, "unreachable")
	_, err = g.ExportedFunction("load").Call(context.Background(), wasm.PageSize)
	require.ErrorContains(t, err, "out of bounds")
	_, err = g.ExportedFunction("store").Call(context.Background(), math.MaxUint32-2, 1)
	require.ErrorContains(t, err, "out of bounds")
	g.call("store", 8, 8)
	require.EqualValues(t, 8, g.call("load", 8))
}

// A request that outlives its region keeps the surface, which the guest goes on seeing.
func TestSurfacesOfLastingRequestsStayMapped(t *testing.T) {
	g := newGuest(t, limit)
	g.call("grow", 10)
	const at, n = wasm.Align, wasm.Align
	r, err := g.memory.OnSurface(at, n)
	needSurfaces(t, err)
	surface := r.Block()
	require.NoError(t, surface.Retain()) // as a request does
	r.Close()
	_, err = g.memory.InPlace(0, 2*n)
	require.ErrorIs(t, err, wasm.ErrOverlap)
	require.ErrorIs(t, err, unimem.ErrInUse)
	require.ErrorContains(t, err, "close the requests of a region before the region")
	g.call("store", at+8, 60)
	require.EqualValues(t, 60, binary.LittleEndian.Uint32(surface.Bytes()[8:]), "guest and engine see the same page")
	same, err := g.memory.OnSurface(at, n)
	require.NoError(t, err)
	require.Same(t, surface, same.Block())
	same.Close()
	surface.Release()
	place, err := g.memory.InPlace(0, 2*n)
	require.NoError(t, err)
	require.EqualValues(t, 60, g.call("load", at+8))
	place.Close()
}

// A surface that a lasting request holds is not in the way of one of other pages.
func TestManySurfacesBesideALastingRequest(t *testing.T) {
	g := newGuest(t, 80*wasm.Align)
	g.call("grow", 80*wasm.Align/65536-1)
	held, err := g.memory.OnSurface(0, wasm.Align)
	needSurfaces(t, err)
	require.NoError(t, held.Block().Retain())
	surface := held.Block()
	held.Close()
	defer surface.Release()
	var all []*wasm.Region
	for at := uint64(wasm.Align); at < 78*wasm.Align; at += wasm.Align {
		r, err := g.memory.OnSurface(at, wasm.Align)
		require.NoError(t, err, "at %d", at/wasm.Align)
		all = append(all, r)
	}
	for _, r := range all {
		r.Close()
	}
	g.call("store", 8, 60)
	require.EqualValues(t, 60, binary.LittleEndian.Uint32(surface.Bytes()[8:]), "it stays mapped")
}
