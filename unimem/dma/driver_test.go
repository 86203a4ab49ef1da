package dma

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

// fakeDriver is a driver that answers what a test says.
type fakeDriver struct {
	mu       sync.Mutex
	prepare  func(ctx context.Context, offset int) ([]Segment, error)
	complete func(ctx context.Context, c Command) error
	leave    func()
	last     Command
	live     map[Command]bool
	offsets  []int
	closed   int
}

func (f *fakeDriver) Prepare(ctx context.Context, _ *unimem.Block, offset int) (Command, []Segment, error) {
	s, err := f.prepare(ctx, offset)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.offsets = append(f.offsets, offset)
	if err != nil {
		return 0, nil, err
	}
	f.last++
	if f.live == nil {
		f.live = map[Command]bool{}
	}
	f.live[f.last] = true
	return f.last, s, nil
}

func (f *fakeDriver) Complete(ctx context.Context, c Command) error {
	if f.complete != nil {
		if err := f.complete(ctx, c); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, c)
	return nil
}

func (f *fakeDriver) Close() error {
	if f.leave != nil {
		f.leave()
	}
	f.closed++
	return nil
}

// Segments of a Block that needs several calls.
func TestCallsOfThirtyTwo(t *testing.T) {
	d := simulate(t, longestSegment(PageSize))
	b := newBlock(t, 100*PageSize)
	s, err := d.Segments(b)
	require.NoError(t, err)
	require.Len(t, s, 100)
	require.Len(t, d.model.commands, 4, "32, 32, 32 and 4")
	for i, x := range s {
		require.Equal(t, Segment{addressStart + uint64(i)*PageSize, PageSize}, x)
	}
	s[0].Address = 1 // the caller's own slice
	again, err := d.Segments(b)
	require.NoError(t, err)
	require.EqualValues(t, addressStart, again[0].Address)
	require.NoError(t, d.Release(b))
	require.Empty(t, d.model.commands)
	require.Zero(t, d.model.table.Live())
}

// The numbers of dext/README.md for 1 GiB.
func TestSegmentsOfAGiB(t *testing.T) {
	b := newBlock(t, 1<<30) // no page is touched
	for longest, calls := range map[uint64]int{1 << 30: 1, PageSize: 2048, 32 << 20: 1} {
		d := simulate(t, longestSegment(longest))
		s, err := d.Segments(b)
		require.NoError(t, err)
		require.Len(t, s, 1<<30/int(longest))
		require.Len(t, d.model.commands, calls)
		require.NoError(t, d.Release(b))
	}
}

// An address of one device is no address of another.
func TestAddressesAreOfOneDevice(t *testing.T) {
	b := newBlock(t, PageSize)
	disk, engine := simulate(t), simulate(t)
	s, err := engine.Segments(b)
	require.NoError(t, err)
	require.Error(t, disk.model.table.Store(s[0].Address, []byte{1}))
	require.EqualValues(t, 1, disk.faults())
	require.Zero(t, b.Bytes()[0])
}

// A Block without a range that holds it gets several, and none if they are too few.
func TestFragmentsAndExhaustion(t *testing.T) {
	d := simulate(t, Addresses(8*PageSize))
	var small []*unimem.Block
	for range 8 {
		b := newBlock(t, PageSize)
		_, err := d.Segments(b)
		require.NoError(t, err)
		small = append(small, b)
	}
	b := newBlock(t, 3*PageSize)
	_, err := d.Segments(b)
	require.ErrorIs(t, err, ErrExhausted)
	require.Equal(t, 8, d.reached())
	for _, i := range []int{1, 4, 6} {
		require.NoError(t, d.Release(small[i]))
	}
	s, err := d.Segments(b)
	require.NoError(t, err)
	require.Len(t, s, 3)
	require.NoError(t, d.Release(b))
	require.NoError(t, d.Release(small[5]))
	s, err = d.Segments(b)
	require.NoError(t, err)
	require.Equal(t, []Segment{{addressStart + 4*PageSize, 3 * PageSize}}, s, "one hole now")

	// Exhaustion in a later call undoes the earlier ones.
	e := simulate(t, Addresses(40*PageSize), longestSegment(PageSize))
	large := newBlock(t, 41*PageSize)
	_, err = e.Segments(large)
	require.ErrorIs(t, err, ErrExhausted)
	require.Zero(t, e.model.table.Live())
	require.Zero(t, e.reached())
	require.NoError(t, d.Close()) // before the Blocks close
}

// Two Blocks of one memory, as of two processes, have addresses of their own for the same pages.
func TestSharedMemoryIsMappedTwice(t *testing.T) {
	b := newBlock(t, 2*PageSize)
	f, err := b.Share()
	if err != nil {
		t.Skip("this memory cannot be shared: ", err)
	}
	other, err := unimem.Adopt(f, 2*PageSize)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	require.Equal(t, b.Key(), other.Key())
	d := simulate(t)
	mine, err := d.Segments(b)
	require.NoError(t, err)
	theirs, err := d.Segments(other)
	require.NoError(t, err)
	require.NotEqual(t, mine, theirs)
	require.NoError(t, d.model.table.Store(theirs[0].Address+5, []byte{42}))
	require.Equal(t, byte(42), b.Bytes()[5])
	require.NoError(t, d.Release(b))
	require.Error(t, d.model.table.Store(mine[0].Address, []byte{1}))
	require.NoError(t, d.model.table.Store(theirs[0].Address, []byte{1}), "the other mapping stays")
}

// Segments that break a rule are refused, and nothing stays mapped.
func TestDriversAreNotTrusted(t *testing.T) {
	const p = PageSize
	many := make([]Segment, 33)
	for i := range many {
		many[i] = Segment{uint64(i) * p, p}
	}
	for name, answer := range map[string][]Segment{
		"none": {}, "too many": many, "empty": {{p, 0}}, "odd address": {{p + 1, p}}, "odd length": {{p, p / 2}},
		"too long": {{p, 101 * p}}, "too long together": {{p, 60 * p}, {200 * p, 60 * p}},
		"over the last address": {{1<<64 - p, 2 * p}}, "overlapping": {{p, 2 * p}, {2 * p, 98 * p}},
		"huge": {{0, 1<<64 - p}}, "the same again": {{p, p}}, // which every call returns
	} {
		f := &fakeDriver{prepare: func(context.Context, int) ([]Segment, error) { return answer, nil }}
		d := New(f)
		b := newBlock(t, 100*p)
		_, err := d.Segments(b)
		require.ErrorIs(t, err, ErrDriver, name)
		require.Empty(t, f.live, name)
		require.Zero(t, d.reached(), name)
		require.NoError(t, d.Close(), name)
		require.Equal(t, 1, f.closed)
	}
}

func TestRefusals(t *testing.T) {
	why := errors.New("kIOReturnNotPermitted")
	f := &fakeDriver{}
	f.prepare = func(_ context.Context, offset int) ([]Segment, error) {
		if offset > 0 {
			return nil, why
		}
		return []Segment{{PageSize, PageSize}}, nil
	}
	d := New(f)
	b := newBlock(t, 2*PageSize)
	_, err := d.Segments(b)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorIs(t, err, why)
	require.Contains(t, err.Error(), "at byte 16384")
	require.Equal(t, []int{0, PageSize}, f.offsets)
	require.Empty(t, f.live, "the first call is undone")

	// A Complete that fails keeps the Block until one succeeds.
	stuck := errors.New("stuck")
	f.complete = func(context.Context, Command) error { return stuck }
	_, err = d.Segments(b)
	require.ErrorIs(t, err, why)
	require.ErrorIs(t, err, stuck)
	require.Equal(t, 1, d.reached())
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.ErrorIs(t, d.Close(), stuck)
	f.complete = nil
	f.prepare = func(context.Context, int) ([]Segment, error) { return []Segment{{PageSize, 2 * PageSize}}, nil }
	_, err = d.Segments(b)
	require.NoError(t, err, "after the rest was undone")
	require.Len(t, f.live, 1)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	require.Equal(t, 1, f.closed)
	require.Empty(t, f.live)
}

func TestCallsHaveADeadline(t *testing.T) {
	f := &fakeDriver{prepare: func(ctx context.Context, _ int) ([]Segment, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	d := New(f, Timeout(1))
	_, err := d.Segments(newBlock(t, PageSize))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, d.Close())

	// Another call on the same Block waits no longer either.
	begun, let := make(chan struct{}), make(chan struct{})
	f = &fakeDriver{prepare: func(context.Context, int) ([]Segment, error) {
		close(begun)
		<-let
		return []Segment{{0, PageSize}}, nil
	}}
	d = New(f)
	b := newBlock(t, PageSize)
	first := make(chan error, 1)
	go func() { _, err := d.Segments(b); first <- err }()
	await.Value(t, begun)
	d.timeout = 1
	_, err = d.Segments(b)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, d.Release(b), context.DeadlineExceeded)
	close(let)
	require.NoError(t, await.Value(t, first))
	d.timeout = patience
	require.NoError(t, d.Close())
}

// returned waits until no call owns the mapping of b.
func (d *Device) returned(t *testing.T, b *unimem.Block) {
	t.Helper()
	await.Until(t, "the call returns", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		m := d.mapped[b]
		return m == nil || m.done == nil
	})
}

// Addresses of one Block are not those of another, unless both have the same memory.
func TestAddressesAreOfOneBlock(t *testing.T) {
	const p = PageSize
	var answer []Segment
	f := &fakeDriver{prepare: func(context.Context, int) ([]Segment, error) { return answer, nil }}
	d := New(f)
	a, b := newBlock(t, 2*p), newBlock(t, 4*p)
	answer = []Segment{{4 * p, 2 * p}}
	_, err := d.Segments(a)
	require.NoError(t, err)
	for _, answer = range [][]Segment{
		{{4 * p, 4 * p}}, {{p, 4 * p}}, {{3 * p, 4 * p}}, {{20 * p, 2 * p}, {5 * p, 2 * p}},
		{{5 * p, p}, {20 * p, 3 * p}},
	} {
		_, err = d.Segments(b)
		require.ErrorIs(t, err, ErrDriver, "%v", answer)
		require.Equal(t, 1, d.reached())
		require.Len(t, f.live, 1)
	}
	answer = []Segment{{6 * p, 2 * p}, {2 * p, 2 * p}}
	_, err = d.Segments(b)
	require.NoError(t, err, "before and after")
	require.NoError(t, d.Release(a))
	require.NoError(t, d.Release(b))
	answer = []Segment{{4 * p, 4 * p}}
	_, err = d.Segments(b)
	require.NoError(t, err, "after Release")

	if file, err := b.Share(); err == nil {
		twin, err := unimem.Adopt(file, b.Size())
		require.NoError(t, err)
		require.NoError(t, file.Close())
		_, err = d.Segments(twin)
		require.NoError(t, err, "the same pages, as of a device without a DART")
		require.NoError(t, d.Release(twin))
		require.NoError(t, twin.Close())
	}
	require.NoError(t, d.Close())
}

// A Driver that does not return keeps no caller. What it does later is undone.
func TestDriversThatDoNotReturn(t *testing.T) { synctest.Test(t, testDriversThatDoNotReturn) }

func testDriversThatDoNotReturn(t *testing.T) {
	let := make(chan struct{})
	f := &fakeDriver{prepare: func(_ context.Context, offset int) ([]Segment, error) {
		if offset > 0 {
			<-let
		}
		return []Segment{{uint64(8*PageSize + offset), PageSize}}, nil
	}}
	d := New(f)
	b := newBlock(t, 2*PageSize)
	segments := func() error { _, err := d.Segments(b); return err }
	release := func() error { return d.Release(b) }
	resume := func() {
		close(let)
		synctest.Wait()
		let = make(chan struct{})
	}
	err := segments()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorIs(t, segments(), context.DeadlineExceeded)
	require.ErrorIs(t, release(), context.DeadlineExceeded)
	require.ErrorIs(t, d.Close(), context.DeadlineExceeded)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse, "the Driver has the memory")
	resume()
	require.Empty(t, f.live, "the late commands are undone")
	require.Zero(t, d.reached())
	close(let)
	require.NoError(t, segments())
	require.Len(t, f.live, 2)

	let = make(chan struct{})
	f.complete = func(context.Context, Command) error { <-let; return nil }
	require.ErrorIs(t, release(), context.DeadlineExceeded)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	resume()
	f.complete = nil
	require.Empty(t, f.live)
	require.ErrorIs(t, release(), ErrNotMapped)

	// A late call that fails.
	f.prepare = func(context.Context, int) ([]Segment, error) { <-let; return nil, context.Canceled }
	require.ErrorIs(t, segments(), context.DeadlineExceeded)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	resume()
	require.NoError(t, b.Close(), "nothing is mapped")

	// Close.
	f.leave = func() { <-let }
	require.ErrorIs(t, d.Close(), context.DeadlineExceeded)
	_, err = d.Segments(b)
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, d.Close(), "once")
	resume()
	require.Equal(t, 1, f.closed)
}

func TestBlocksThatADeviceCannotHave(t *testing.T) {
	d := simulate(t)
	_, err := d.Segments(nil)
	require.ErrorIs(t, err, unimem.ErrClosed)
	require.ErrorIs(t, d.Release(nil), ErrNotMapped)
	b, err := unimem.Open(1)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = d.Segments(b)
	require.ErrorIs(t, err, unimem.ErrClosed)
	ragged, err := unimem.AdoptMemory(make([]byte, 100), nil)
	require.NoError(t, err)
	_, err = d.Segments(ragged)
	require.ErrorIs(t, err, unimem.ErrSize)
	require.NoError(t, ragged.Close())
	fixed, err := unimem.AdoptMemory(make([]byte, PageSize), nil, unimem.ReadOnly())
	require.NoError(t, err)
	_, err = d.Segments(fixed)
	require.ErrorIs(t, err, ErrReadOnly)
	require.NoError(t, fixed.Close())
	require.Zero(t, d.reached())
}

func TestConcurrentSegments(t *testing.T) {
	d := simulate(t, longestSegment(PageSize))
	b := newBlock(t, 50*PageSize)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				s, err := d.Segments(b)
				if err != nil || len(s) != 50 {
					t.Errorf("%d segments, %v", len(s), err)
					return
				}
				if err := d.Release(b); err != nil && !errors.Is(err, ErrNotMapped) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	_ = d.Release(b) // or another goroutine was the last
	require.Zero(t, d.model.table.Live())
}

// BenchmarkSegments is the model's share of the second question in dext/README.md.
func BenchmarkSegments(b *testing.B) {
	for name, size := range map[string]int{"256MiB": 256 << 20, "1GiB": 1 << 30} {
		b.Run(name, func(b *testing.B) {
			d := simulate(b)
			mem := newBlock(b, size)
			n := 0
			for b.Loop() {
				s, err := d.Segments(mem)
				if err != nil {
					b.Fatal(err)
				}
				n = len(s)
				if err := d.Release(mem); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n), "segments")
		})
	}
}
