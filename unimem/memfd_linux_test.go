//go:build !macrules

package unimem_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

func TestMemfdIsSealed(t *testing.T) {
	b, err := unimem.Open(page)
	require.NoError(t, err)
	fd := int(b.Handle())
	require.Error(t, unix.Ftruncate(fd, 0), "after a truncation every mapping would fault")
	require.Error(t, unix.Ftruncate(fd, 2*page))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE)
	require.Error(t, err)
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC, "child processes do not inherit the memory")
	require.NoError(t, b.Close())
}

// The bytes are those of the file of the handle.
func TestHandleIsTheMemory(t *testing.T) {
	b, err := unimem.Open(page)
	require.NoError(t, err)
	b.Bytes()[100] = 42
	var got [1]byte
	_, err = unix.Pread(int(b.Handle()), got[:], 100)
	require.NoError(t, err)
	require.EqualValues(t, 42, got[0])
	require.NoError(t, b.Close())
}

func TestNoDescriptorsLeft(t *testing.T) {
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	low := unix.Rlimit{Cur: 64, Max: old.Max}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) }()

	before := unimem.Live()
	_, err := unimem.NewGrid(64, 100, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorIs(t, err, unix.EMFILE)
	require.ErrorContains(t, err, "ulimit -n")
	require.Equal(t, before, unimem.Live(), "the cells before are freed")

	b, err := unimem.Open(page)
	require.NoError(t, err)
	require.NoError(t, b.Close())
}

// Cells that cannot all have a descriptor are refused, and none stays open.
func TestCellsBeyondDescriptors(t *testing.T) {
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: old.Max}))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)) }()
	before := unimem.Live()
	for _, cells := range []int{199, 5000, unimem.MaxCells} {
		_, err := unimem.NewGrid(64, cells, unimem.SurfacePerCell())
		require.ErrorIs(t, err, unimem.ErrExhausted)
		require.ErrorIs(t, err, unimem.ErrCreate)
		require.ErrorIs(t, err, unix.EMFILE)
		require.ErrorContains(t, err, "ulimit -n")
	}
	require.Equal(t, before, unimem.Live())
	g, err := unimem.NewGrid(64, 100, unimem.SurfacePerCell())
	require.NoError(t, err)
	require.NoError(t, g.Close())
	g, err = unimem.NewGrid(64, 1000, unimem.SurfacePerCell(), unimem.OnHeap())
	require.NoError(t, err, "memory of the heap has no descriptors")
	require.NoError(t, g.Close())
}

// A cell of 64 bytes takes a page of 16 KiB: cells are counted as rounded.
func TestCellsBeyondMemory(t *testing.T) {
	const cells = unimem.MaxCells / 16
	pages := int(unimem.MachineMemory() / page / cells)
	before := unimem.LastID()
	_, err := unimem.NewGrid(pages*page+64, cells, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrSize)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.NotErrorIs(t, err, unix.EMFILE)
	require.Equal(t, before, unimem.LastID(), "nothing was opened")
}

func TestWarmPagesArePresent(t *testing.T) {
	const size = 8 * page
	present := func(opts ...unimem.Option) int {
		b, err := unimem.Open(size, opts...)
		require.NoError(t, err)
		defer func() { require.NoError(t, b.Close()) }()
		var s unix.Stat_t
		require.NoError(t, unix.Fstat(int(b.Handle()), &s))
		return int(s.Blocks) * 512 // st_blocks counts 512 bytes each
	}
	require.Zero(t, present(), "lazy")
	require.Equal(t, size, present(unimem.Warm()))
}

// Where the kernel makes huge pages of shared memory, a warm Block has them in its whole runs, and only there.
func TestWarmPagesAreHuge(t *testing.T) {
	const run = 2 << 20
	open := func(size int) (*unimem.Block, int) {
		before := hugeMapped(t)
		b, err := unimem.Open(size, unimem.Warm())
		require.NoError(t, err)
		return b, (hugeMapped(t) - before) << 10
	}
	b, _ := open(run)
	advised := unix.Madvise(b.Bytes(), unix.MADV_COLLAPSE)
	able := advised == nil && hugeMapped(t) > 0 // an emulator answers success and does nothing
	require.NoError(t, b.Close())
	if !able {
		t.Skip("this kernel makes no huge pages of shared memory on request: ", advised)
	}
	small, got := open(run - page)
	require.Zero(t, got)
	require.NoError(t, small.Close())
	large, got := open(3*run + page)
	require.Equal(t, 3*run, got)
	for i, x := range large.Bytes() {
		if x != 0 {
			t.Fatalf("byte %d is %d", i, x)
		}
	}
	m, err := unimem.Map(large)
	require.NoError(t, err)
	large.Bytes()[2*run+5] = 9
	require.Equal(t, byte(9), m.Bytes()[2*run+5])
	require.NoError(t, m.Close())
	require.NoError(t, large.Close())
}

func TestWeightsAreWarm(t *testing.T) {
	l, err := unimem.NewLayout(page, page, page)
	require.NoError(t, err)
	var s unix.Stat_t
	for tape, want := range map[*unimem.Tape]int64{l.Weights(): page / 512, l.Scratch(): 0, l.History(): 0} {
		require.NoError(t, unix.Fstat(int(tape.Block().Handle()), &s))
		require.Equal(t, want, s.Blocks)
	}
	require.NoError(t, l.Close())
}

// faults reports whether reading b[0] is a fault.
func faults(b []byte) (fault bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			_, fault = r.(runtime.Error)
		}
	}()
	runtime.KeepAlive(b[0] + 1)
	return false
}

func TestPoisonOnClose(t *testing.T) {
	b, err := unimem.Open(page, unimem.PoisonOnClose())
	require.NoError(t, err)
	stale := b.Bytes()
	require.False(t, faults(stale))
	require.NoError(t, b.Close())
	require.True(t, faults(stale))

	for range 50 { // the address is not reused
		other, err := unimem.Open(page)
		require.NoError(t, err)
		require.NotEqual(t, b.Address(), other.Address())
		require.NoError(t, other.Close())
	}
	require.True(t, faults(stale))

	tape, err := unimem.Start(page, unimem.PoisonOnClose())
	require.NoError(t, err)
	span, err := tape.Take(10, 1)
	require.NoError(t, err)
	require.NoError(t, tape.Close())
	require.True(t, faults(span))
}

// TestPartOfAHugePage: a range that ends within a huge page is not mapped, since it could not be unmapped.
func TestPartOfAHugePage(t *testing.T) {
	fd, err := unix.MemfdCreate("huge", unix.MFD_CLOEXEC|unix.MFD_HUGETLB)
	if err != nil {
		t.Skipf("no huge pages: %v", err)
	}
	f := os.NewFile(uintptr(fd), "huge")
	defer f.Close()
	var system unix.Statfs_t
	require.NoError(t, unix.Fstatfs(fd, &system))
	require.NoError(t, f.Truncate(2*system.Bsize))
	for _, size := range []int{1, unimem.PageSize, int(system.Bsize) + unimem.PageSize} {
		_, err = unimem.MapFileAt(f, 0, size)
		require.ErrorIs(t, err, unimem.ErrShare)
		require.ErrorContains(t, err, "huge pages")
	}
	if leaktest.Emulated() {
		t.Skip("QEMU refuses to map huge pages; run it on the processor itself")
	}
	b, err := unimem.MapFile(f) // the system may have no huge page left
	if err == nil {
		require.NoError(t, b.Close())
	} else {
		require.ErrorIs(t, err, unimem.ErrExhausted)
	}
}
