//go:build linux && cgo && (amd64 || arm64)

package dma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

// requireReached checks that the device reaches every page of b by its segments, in order, and only those.
func (f *fake) requireReached(t *testing.T, b *unimem.Block, segments []Segment) {
	t.Helper()
	at := 0
	for _, s := range segments {
		for offset := uint64(0); offset < s.Length; offset += PageSize {
			value := byte(at/PageSize + 1)
			require.NotZero(t, f.write(s.Address+offset, value), "page %d", at/PageSize)
			require.Equal(t, value, b.Bytes()[at], "page %d", at/PageSize)
			require.NotZero(t, f.write(s.Address+offset+PageSize-1, value))
			require.Equal(t, value, b.Bytes()[at+PageSize-1])
			at += PageSize
		}
		require.Zero(t, f.write(s.Address+s.Length, 1), "after the segment at %#x", s.Address)
	}
	require.Equal(t, b.Size(), at)
}

func TestExtensionMapsABlock(t *testing.T) {
	f := library(t)
	d := f.device(t)
	b := pages(t, 3)
	segments, err := d.Segments(b)
	require.NoError(t, err)
	require.Len(t, segments, 1)
	require.NotEqual(t, uint64(b.Address()), segments[0].Address, "the device has its own addresses")
	f.requireReached(t, b, segments)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.Positive(t, d.PrepareTime(), "the extension measures PrepareForDMA")
	require.NoError(t, d.Release(b))
	require.Zero(t, f.write(segments[0].Address, 9), "the device faults after Release")
	require.EqualValues(t, 0, f.live(livePrepared))
}

// A reply has at most 32 segments; more take several calls, in order.
func TestScatteredBlocksTakeSeveralCalls(t *testing.T) {
	f := library(t)
	d := f.device(t)
	for _, n := range []int{1, 31, 32, 33, 64, 65, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f.limits(PageSize, 0)
			b := pages(t, n)
			segments, err := d.Segments(b)
			require.NoError(t, err)
			require.Len(t, segments, n)
			require.EqualValues(t, (n+MaxSegments-1)/MaxSegments, f.live(livePrepared), "a command for each call")
			f.requireReached(t, b, segments)
			require.NoError(t, d.Release(b))
		})
	}
	f.limits(3*PageSize, 0)
	b := pages(t, 100) // 34 segments, the last of one page
	segments, err := d.Segments(b)
	require.NoError(t, err)
	require.Len(t, segments, 34)
	f.requireReached(t, b, segments)
	require.NoError(t, d.Release(b))
}

func TestAddressesRunOut(t *testing.T) {
	f := library(t)
	d := f.device(t)
	f.limits(PageSize, 40*PageSize)
	first, second := pages(t, 33), pages(t, 34)
	_, err := d.Segments(first)
	require.NoError(t, err)
	_, err = d.Segments(second)
	require.ErrorIs(t, err, ErrExhausted)
	require.EqualValues(t, 2, f.live(livePrepared), "nothing of the second stays mapped")
	require.NoError(t, d.Release(first))
	segments, err := d.Segments(second)
	require.NoError(t, err)
	f.requireReached(t, second, segments)
	require.NoError(t, d.Release(second))
}

// Every call fails in turn, the first and each later time; nothing stays, and the next attempt succeeds.
func TestEveryCallFails(t *testing.T) {
	f := library(t)
	f.limits(PageSize, 0)
	b := pages(t, 40)
	whole := func() error {
		c, err := connectTo(t.Context(), f.table, extensionService)
		if err != nil {
			return err
		}
		d := New(c)
		_, err = d.Segments(b)
		if err == nil {
			err = d.Release(b)
		}
		for range 3 { // a refused Complete leaves the Block mapped, so that Close tries again
			if closed := d.Close(); closed == nil {
				break
			} else {
				err = errors.Join(err, closed)
			}
		}
		return err
	}
	for _, call := range []string{"IOServiceNameMatching", "IOServiceGetMatchingService", "IOServiceOpen",
		"IOService::Create", "IOConnectCallMethod", "CreateMemoryDescriptorFromClient", "IODMACommand::Create",
		"PrepareForDMA", "CompleteDMA", "OSData::withBytes", "IOServiceClose"} {
		const busy = -0x1ffffd2b // kIOReturnBusy, 0xe00002d5
		times := 0
		for ; ; times++ {
			f.fail(call, int32(times), busy)
			err := whole()
			f.fail("", 0, 0)
			for kind := range liveKinds {
				require.Zero(t, f.live(int32(kind)), "%s, call %d: kind %d lives", call, times, kind)
			}
			if err == nil {
				break // so often it is not called, or its failure is the extension's own affair
			}
			var e *Error
			require.ErrorAs(t, err, &e, call)
			require.NoError(t, whole(), "the next attempt after %s", call)
			if times > 20 {
				t.Fatalf("%s never succeeds", call)
			}
		}
		if call != "CompleteDMA" {
			require.Positive(t, times, "%s is never called", call)
		}
	}
}

func TestCodesOfRefusals(t *testing.T) {
	f := library(t)
	d := f.device(t)
	b := pages(t, 1)
	const permitted = -0x1ffffd1e // 0xe00002e2
	f.fail("IOConnectCallMethod", 0, permitted)
	_, err := d.Segments(b)
	require.ErrorIs(t, err, ErrRefused)
	var r *Return
	require.ErrorAs(t, err, &r)
	require.EqualValues(t, 0xe00002e2, r.Code)
	require.ErrorContains(t, err, "IOConnectCallMethod prepare: kIOReturnNotPermitted (0xe00002e2)")
	require.ErrorContains(t, err, "com.apple.developer.driverkit.userclient-access")

	f.fail("IOServiceOpen", 0, permitted)
	_, err = connectTo(t.Context(), f.table, extensionService)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "userclient-access")
	_, err = connectTo(t.Context(), f.table, "NoSuchDriver")
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "dext/README.md")
}

// The extension refuses what no correct client sends.
func TestExtensionRefuses(t *testing.T) {
	f := library(t)
	c, err := connectTo(t.Context(), f.table, extensionService)
	require.NoError(t, err)
	b := pages(t, 2)
	good := request{Address: uint64(b.Address()), Length: PageSize, Direction: directionInOut}
	for name, x := range map[string]struct {
		selector uint32
		in       []uint64
		bytes    []byte
		out      int
		code     uint32
	}{
		"unknown selector":  {17, nil, nil, 0, returnUnsupported},
		"short request":     {selectPrepare, nil, good.encode()[:23], replyBytes, returnBadArgument},
		"short reply":       {selectPrepare, nil, good.encode(), replyBytes - 1, returnBadArgument},
		"unknown command":   {selectComplete, []uint64{99}, nil, 0, returnNotFound},
		"two scalars":       {selectComplete, []uint64{1, 2}, nil, 0, returnBadArgument},
		"no scalar":         {selectComplete, nil, nil, 0, returnBadArgument},
		"version of scalar": {selectVersion, []uint64{1}, nil, 0, returnBadArgument},
	} {
		_, err := c.call(name, x.selector, x.in, x.bytes, nil, make([]byte, x.out))
		var r *Return
		require.ErrorAs(t, err, &r, name)
		require.Equal(t, x.code, r.Code, name)
	}
	for name, x := range map[string]struct {
		change func(*request)
		code   uint32
	}{
		"no length":    {func(r *request) { r.Length = 0 }, returnBadArgument},
		"no direction": {func(r *request) { r.Direction = 0 }, returnBadArgument},
		"direction 4":  {func(r *request) { r.Direction = 4 }, returnBadArgument},
		"reserved":     {func(r *request) { r.Reserved = 1 }, returnBadArgument},
		"wraps": {func(r *request) { r.Address, r.Length = math.MaxUint64-PageSize+1, 2*PageSize },
			returnBadArgument},
		"odd length":  {func(r *request) { r.Length-- }, returnNotAligned},
		"odd address": {func(r *request) { r.Address++ }, returnNotAligned},
		"not mapped":  {func(r *request) { r.Address = PageSize }, returnVMError},
	} {
		bad := good
		x.change(&bad)
		_, err := c.call(name, selectPrepare, nil, bad.encode(), nil, make([]byte, replyBytes))
		var r *Return
		require.ErrorAs(t, err, &r, name)
		require.Equal(t, x.code, r.Code, name)
	}
	require.EqualValues(t, 0, f.live(livePrepared))
	require.NoError(t, c.Close())
}

// A deadline does not end the call: the Block stays retained until the extension has returned, and then nothing is
// mapped.
func TestLatePrepare(t *testing.T) {
	f := library(t)
	d := f.device(t, Timeout(1))
	d.grace = 0
	b := pages(t, 1)
	f.stall("PrepareForDMA")
	_, err := d.Segments(b)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	await.Until(t, "the extension prepares", func() bool { return f.waiting() == 1 })
	require.ErrorIs(t, b.Close(), unimem.ErrInUse, "the extension has the memory")
	require.ErrorIs(t, d.Close(), context.DeadlineExceeded)
	f.resume()
	d.returned(t, b)
	d.timeout, d.grace = patience, grace
	require.EqualValues(t, 0, f.live(livePrepared))
	require.Zero(t, d.reached())
}

// A command whose completion takes longer than its caller waits is completed once.
func TestLateComplete(t *testing.T) {
	f := library(t)
	d := f.device(t)
	b := pages(t, 1)
	_, err := d.Segments(b)
	require.NoError(t, err)
	d.timeout, d.grace = 1, 0
	f.stall("CompleteDMA")
	require.ErrorIs(t, d.Release(b), context.DeadlineExceeded)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	f.resume()
	d.returned(t, b)
	d.timeout, d.grace = patience, grace
	require.EqualValues(t, 0, f.live(livePrepared))
	require.ErrorIs(t, d.Release(b), ErrNotMapped, "the call that went on has released it")
}

func TestTooManyLateCalls(t *testing.T) {
	f := library(t)
	d := f.device(t, Timeout(1))
	d.grace = 0
	f.stall("CreateMemoryDescriptorFromClient")
	var blocks []*unimem.Block
	for range maxLate {
		b := pages(t, 1)
		blocks = append(blocks, b)
		_, err := d.Segments(b)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	b := pages(t, 1)
	_, err := d.Segments(b)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "16 calls of the driver have not returned")
	f.resume()
	for _, b := range blocks {
		d.returned(t, b)
	}
	await.Until(t, "no call is late", func() bool { return d.late.n.Load() == 0 })
	d.timeout, d.grace = patience, grace
	_, err = d.Segments(b)
	require.NoError(t, err)
	require.NoError(t, d.Release(b))
}

// An Allocate whose context ends leaves no Block, and Close waits for it.
func TestLateAllocate(t *testing.T) {
	f := library(t)
	a, err := newAllocator(t.Context(), f.table)
	require.NoError(t, err)
	f.stall("PrepareForDMA")
	ctx := await.DeadlineWhen(t, t.Context(), func() bool { return f.waiting() == 1 })
	_, _, err = a.Allocate(ctx, PageSize)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, a.Close(), unimem.ErrInUse)
	f.resume()
	await.Until(t, "the Block closes", func() bool { return a.Close() == nil })
	require.EqualValues(t, 0, f.live(livePrepared))
}

// The extension unmaps what a client leaves that closes its connection without a word, as the system does for a
// process that has crashed.
func TestExtensionCleansUp(t *testing.T) {
	f := library(t)
	c, err := connectTo(t.Context(), f.table, extensionService)
	require.NoError(t, err)
	b := pages(t, 1)
	for range 5 {
		_, _, err = c.Prepare(t.Context(), b, 0)
		require.NoError(t, err)
	}
	require.EqualValues(t, 5, f.live(livePrepared))
	require.NoError(t, c.Close())
	require.EqualValues(t, 0, f.live(livePrepared))
}

func TestConcurrentBlocks(t *testing.T) {
	f := library(t)
	d := f.device(t)
	f.limits(PageSize, 0)
	var wg sync.WaitGroup
	for range 8 {
		b := pages(t, 40)
		wg.Go(func() {
			for range 5 {
				segments, err := d.Segments(b)
				if err != nil || len(segments) != 40 {
					t.Error(len(segments), err)
				}
				if err := d.Release(b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAllocator(t *testing.T) {
	f := library(t)
	a, err := newAllocator(t.Context(), f.table)
	require.NoError(t, err)
	b, segments, err := a.Allocate(t.Context(), 3*PageSize-5)
	require.NoError(t, err)
	require.Equal(t, 3*PageSize, b.Size())
	f.requireReached(t, b, segments)
	require.ErrorIs(t, a.Close(), unimem.ErrInUse)
	require.NoError(t, b.Close())
	require.Zero(t, f.write(segments[0].Address, 1))

	f.limits(PageSize, 0)
	_, _, err = a.Allocate(t.Context(), 33*PageSize)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "kIOReturnOverrun", "more segments than a reply has")
	f.limits(0, PageSize)
	_, _, err = a.Allocate(t.Context(), 2*PageSize)
	require.ErrorIs(t, err, ErrExhausted)
	f.limits(0, 0)
	for call, want := range map[string]error{"IOConnectMapMemory64": ErrRefused, "PrepareForDMA": ErrRefused,
		"IOBufferMemoryDescriptor::Create": ErrRefused, "OSData::withBytes": ErrExhausted} {
		f.fail(call, 0, -0x1ffffd2b)
		_, _, err = a.Allocate(t.Context(), PageSize)
		require.ErrorIs(t, err, want, call)
		require.EqualValues(t, 0, f.live(livePrepared), call)
	}
	for size, want := range map[int]error{0: unimem.ErrZeroSize, -1: unimem.ErrSize, 1<<63 - 1: unimem.ErrSize} {
		_, _, err = a.Allocate(t.Context(), size)
		require.ErrorIs(t, err, want)
	}
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	_, _, err = a.Allocate(t.Context(), 1)
	require.ErrorIs(t, err, ErrClosed)
}

// A mapping that is shorter than the extension's own addresses, or none at all, is no memory of a Block.
func TestAllocatorRefusesShortMappings(t *testing.T) {
	f := library(t)
	for name, cut := range map[string]func([]byte) []byte{
		"nothing":        func([]byte) []byte { return nil },
		"a byte short":   func(mem []byte) []byte { return mem[:len(mem)-1] },
		"the first page": func(mem []byte) []byte { return mem[:PageSize] },
	} {
		t.Run(name, func(t *testing.T) {
			table, given := *f.table, []byte(nil)
			table.Map = func(connect, kind uint32) ([]byte, int32) {
				mem, code := f.table.Map(connect, kind)
				given = mem
				return cut(mem), code
			}
			table.Unmap = func(connect, kind uint32, _ []byte) int32 { return f.table.Unmap(connect, kind, given) }
			a, err := newAllocator(t.Context(), &table)
			require.NoError(t, err)
			b, segments, err := a.Allocate(t.Context(), 2*PageSize)
			require.ErrorIs(t, err, ErrDriver)
			require.ErrorContains(t, err, "bytes are mapped")
			require.Nil(t, b)
			require.Nil(t, segments)
			require.Zero(t, f.live(livePrepared))
			require.NoError(t, a.Close(), "no Block is counted")
		})
	}
}
