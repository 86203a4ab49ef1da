package dma

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

// within has a deadline that only a hang reaches.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
	t.Cleanup(cancel)
	return ctx
}

// tester is a test, or a case of a property.
type tester interface {
	rapid.TB
	Cleanup(f func())
}

func simulate(t tester, opts ...Option) *Device {
	t.Helper()
	d := Simulate(opts...)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// newBlock opens a Block that is closed after a Device of a later call.
func newBlock(t tester, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 ^ i>>8)
	}
	return b
}

// write makes a file that no page of the page cache has, if that is possible.
func write(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sectors")
	f, err := os.Create(path)
	require.NoError(t, err)
	_, err = f.Write(data)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	forget(f)
	require.NoError(t, f.Close())
	return path
}

// TestDiskReadsToABlock reads a file to a Block whose addresses are in one piece, and in many.
func TestDiskReadsToABlock(t *testing.T) {
	const size = 5<<20 + 777
	data := pattern(size)
	path := write(t, data)
	for name, opts := range map[string][]Option{"whole": nil, "split": {longestSegment(PageSize)}} {
		t.Run(name, func(t *testing.T) {
			b := newBlock(t, 6<<20)
			d := simulate(t, opts...)
			k, err := OpenDisk(within(t), d, path)
			require.NoError(t, err)
			require.EqualValues(t, (size+Sector-1)/Sector, k.Blocks())
			require.ErrorIs(t, k.Read(within(t), b, 0, 0, 1), ErrNotMapped)
			_, err = d.Segments(b)
			require.NoError(t, err)
			const off = 2 * PageSize
			require.NoError(t, k.Read(within(t), b, off, 0, int(k.Blocks())))
			require.True(t, bytes.Equal(data, b.Bytes()[off:off+size]))
			require.Equal(t, make([]byte, off), b.Bytes()[:off])
			require.Equal(t, make([]byte, b.Size()-off-size), b.Bytes()[off+size:])
			require.NoError(t, k.Read(within(t), b, off+5*Sector, 3, 2))
			require.Equal(t, data[3*Sector:5*Sector], b.Bytes()[off+5*Sector:off+7*Sector])
			require.Zero(t, d.faults())
		})
	}
}

func TestDiskRefuses(t *testing.T) {
	d := simulate(t)
	path := write(t, pattern(10*Sector))
	b := newBlock(t, PageSize)
	k, err := OpenDisk(within(t), d, path)
	require.NoError(t, err)
	_, err = d.Segments(b)
	require.NoError(t, err)
	for _, c := range []struct {
		offset int
		first  int64
		count  int
	}{
		{-Sector, 0, 1}, {1, 0, 1}, {512, 0, 1}, {PageSize, 0, 1}, {PageSize - Sector, 0, 2}, {0, -1, 1}, {0, 0, 0},
		{0, 0, -1},
		{0, 10, 1}, {0, 9, 2}, {0, 1 << 62, 1}, {0, 0, 1 << 62}, {1 << 62, 0, 1},
	} {
		err := k.Read(within(t), b, c.offset, c.first, c.count)
		require.ErrorIs(t, err, ErrRange, "%+v", c)
	}
	require.ErrorIs(t, k.Read(within(t), nil, 0, 0, 1), ErrNotMapped)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, k.Read(gone, b, 0, 0, 1), context.Canceled)
	require.NoError(t, k.Close())
	require.NoError(t, k.Close())
	require.ErrorIs(t, k.Read(within(t), b, 0, 0, 1), ErrClosed)
	require.NoError(t, d.Release(b))

	_, err = OpenDisk(within(t), d, filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = OpenDisk(within(t), d, write(t, nil))
	require.ErrorIs(t, err, ErrRange)
	_, err = OpenDisk(within(t), New(nil), path)
	require.ErrorIs(t, err, ErrUnavailable)
	tiny := simulate(t, Addresses(4*PageSize))
	_, err = OpenDisk(within(t), tiny, path)
	require.ErrorIs(t, err, ErrExhausted)
	require.NoError(t, d.Close())
	_, err = OpenDisk(within(t), d, path)
	require.ErrorIs(t, err, ErrClosed)
}

// hooked is media with a hook before each read.
type hooked struct {
	io.ReaderAt
	hook func() error
}

func (h *hooked) ReadAt(p []byte, off int64) (int, error) {
	if err := h.hook(); err != nil {
		return 0, err
	}
	return h.ReaderAt.ReadAt(p, off)
}

func (h *hooked) WriteAt(p []byte, _ int64) (int, error) { return len(p), h.hook() }
func (h *hooked) Sync() error                            { return h.hook() }
func (h *hooked) Close() error                           { return nil }

func disk(t *testing.T, d *Device, data []byte, hook func() error, opts ...Option) *Disk {
	t.Helper()
	k, err := openDisk(within(t), d, &hooked{bytes.NewReader(data), hook}, int64(len(data)), opts)
	require.NoError(t, err)
	return k
}

func TestDiskErrorsAreStatusCodes(t *testing.T) {
	b := newBlock(t, PageSize)
	d := simulate(t)
	k := disk(t, d, pattern(PageSize), func() error { return errors.New("EIO") })
	_, err := d.Segments(b)
	require.NoError(t, err)
	err = k.Read(within(t), b, 0, 0, 1)
	require.ErrorIs(t, err, ErrTransfer)
	var s *Status
	require.ErrorAs(t, err, &s)
	require.Equal(t, Status{2, 0x81, "unrecovered read error (type 2, code 0x81)"}, *s)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, b.ID(), e.Block)
}

// Release during a read: the device's next access faults, Release waits for the one that has begun, and no byte
// changes after it.
func TestReleaseDuringARead(t *testing.T) {
	const size = 8 << 20
	b := newBlock(t, size)
	d := simulate(t)
	begun, let := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	k := disk(t, d, pattern(size), func() error {
		if first.CompareAndSwap(false, true) {
			close(begun)
		}
		<-let
		return nil
	})
	s, err := d.Segments(b)
	require.NoError(t, err)
	read, released := make(chan error, 1), make(chan error, 1)
	go func() { read <- k.Read(within(t), b, 0, 0, size/Sector) }()
	await.Value(t, begun)
	go func() { released <- d.Release(b) }()
	await.Until(t, "the mapping is withdrawn", func() bool { return d.model.table.Reach(s[0].Address, 1, 1) != nil })
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	select {
	case <-released:
		t.Fatal("Release has returned during an access")
	default:
	}
	close(let)
	require.NoError(t, await.Value(t, released))
	after := bytes.Clone(b.Bytes())
	require.ErrorIs(t, await.Value(t, read), ErrFault)
	require.True(t, bytes.Equal(after, b.Bytes()))
	require.NotEqual(t, byte(pattern(size)[size-1]), after[size-1])
}

// A Release whose wait times out returns an error, keeps the Block retained, and may be repeated.
func TestReleaseHasADeadline(t *testing.T) {
	b := newBlock(t, PageSize)
	d := simulate(t, Timeout(1))
	d.timeout = patience
	begun, let := make(chan struct{}), make(chan struct{})
	k := disk(t, d, pattern(PageSize), func() error {
		close(begun)
		<-let
		return nil
	})
	_, err := d.Segments(b)
	require.NoError(t, err)
	read := make(chan error, 1)
	go func() { read <- k.Read(within(t), b, 0, 0, 1) }()
	await.Value(t, begun)
	d.timeout = 1
	err = d.Release(b)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrRefused)
	require.Equal(t, 2, d.reached(), "the queues, and the Block")
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.ErrorIs(t, k.Read(within(t), b, 0, 0, 1), ErrNotMapped)
	close(let)
	d.timeout = await.Patience
	require.NoError(t, await.Value(t, read), "the access had begun")
	require.NoError(t, d.Release(b))
}

// A disk whose file hangs lets Close return, and closes when the file goes on.
func TestCloseHasADeadline(t *testing.T) {
	b := newBlock(t, PageSize)
	d := simulate(t)
	begun, let := make(chan struct{}), make(chan struct{})
	k := disk(t, d, pattern(PageSize), func() error {
		close(begun)
		<-let
		return nil
	})
	_, err := d.Segments(b)
	require.NoError(t, err)
	read := make(chan error, 1)
	go func() { read <- k.Read(within(t), b, 0, 0, 1) }()
	await.Value(t, begun)
	d.timeout = 1
	require.ErrorIs(t, k.Close(), context.DeadlineExceeded)
	require.ErrorIs(t, await.Value(t, read), ErrClosed)
	require.ErrorIs(t, d.Close(), context.DeadlineExceeded)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	close(let)
	<-k.done
	require.NoError(t, k.Close())
	d.timeout = await.Patience
	require.NoError(t, d.Close())
}

// Many reads, of Blocks that come and go.
func TestDiskUnderLoad(t *testing.T) {
	const size = 1 << 20
	data := pattern(size)
	d := simulate(t, longestSegment(2*PageSize), Addresses(3<<20))
	k := disk(t, d, data, func() error { return nil })
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 1))
			for range 40 {
				b, err := unimem.Open((1+random.IntN(8))*PageSize, unimem.OnHeap())
				if err != nil {
					t.Error(err)
					return
				}
				if _, err = d.Segments(b); err == nil {
					n := 1 + random.IntN(b.Size()/Sector)
					first := random.IntN(size/Sector - n)
					err = k.Read(within(t), b, 0, int64(first), n)
					if err == nil && !bytes.Equal(b.Bytes()[:Sector*n], data[Sector*first:][:Sector*n]) {
						err = errors.New("wrong bytes")
					}
				}
				if err := errors.Join(err, d.Release(b), b.Close()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, d.reached())
}

// BenchmarkDisk reads a file to a warm Block through the simulated controller; its floor is the same reads of the
// file by a call each, of 256 KiB by as many goroutines as the controller has.
func BenchmarkDisk(b *testing.B) {
	const size, chunk = 64 << 20, 256 << 10
	path := write(b, pattern(size))
	mem := newBlock(b, size, unimem.Warm())
	d := simulate(b)
	k, err := OpenDisk(within(b), d, path)
	require.NoError(b, err)
	_, err = d.Segments(mem)
	require.NoError(b, err)
	b.Run("disk", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			require.NoError(b, k.Read(context.Background(), mem, 0, 0, size/Sector))
		}
	})
	b.Run("floor", func(b *testing.B) {
		f, _, err := OpenFile(path)
		require.NoError(b, err)
		defer f.Close()
		b.SetBytes(size)
		for b.Loop() {
			var next atomic.Int64
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for at := next.Add(chunk) - chunk; at < size; at = next.Add(chunk) - chunk {
						if _, err := f.ReadAt(mem.Bytes()[at:at+chunk], at); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
	})
}
