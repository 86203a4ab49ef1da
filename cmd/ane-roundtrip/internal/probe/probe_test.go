package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma"
)

func TestMain(m *testing.M) {
	ServeLookup()
	leaktest.Main(m)
}

// find returns the row of a figure; nil if there is none.
func (r *Result) find(name string, bytes int) *Row {
	i := slices.IndexFunc(r.Rows, func(x Row) bool { return x.Name == name && x.Bytes == bytes })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// Off a Mac nothing is measured without being asked for, and the published figures stand there.
func TestElsewhere(t *testing.T) {
	if host.Mac {
		t.Skip("a Mac measures")
	}
	for _, name := range Names() {
		r, err := Run(t.Context(), name, 256<<20, false)
		require.ErrorIs(t, err, ane.ErrUnavailable)
		var u *unavailable
		require.ErrorAs(t, err, &u)
		require.Contains(t, u.Hint, "--equivalent")
		require.Empty(t, r.Measured)
		require.False(t, r.Equivalent)
		require.NotEmpty(t, r.Rows)
		for _, row := range r.Rows {
			require.Nil(t, row.Value, "%s of %s", row.Name, name)
		}
	}
	r, _ := Run(t.Context(), IOSurface, 0, false)
	require.EqualValues(t, 20e3, *r.find("open", 256<<20).Published)
	require.EqualValues(t, 18.9, *r.find("read", 16<<20).Published)
	require.EqualValues(t, 5e3, *r.find("close", 4<<10).Published)
}

func TestSurfaces(t *testing.T) {
	r, err := Run(t.Context(), IOSurface, 1<<20, true)
	require.NoError(t, err)
	require.NotEmpty(t, r.Measured)
	require.Equal(t, !host.Mac, r.Equivalent)
	for _, size := range []int{4 << 10, 1 << 20} {
		for _, name := range []string{"open", "first touch", "write", "read", "close"} {
			row := r.find(name, size)
			require.NotNil(t, row, "%s of %d", name, size)
			require.Positive(t, *row.Value, "%s of %d", name, size)
			require.Positive(t, *row.Published)
		}
	}
	require.Nil(t, r.find("open", 16<<20), "not above Most")
	for _, row := range r.Rows {
		require.True(t, row.Value != nil || row.Note != "", "%s: a figure or a reason", row.Name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ended, IOSurface, 1<<20, true)
	require.ErrorIs(t, err, context.Canceled)
}

// Every segment is told: of the size that PrepareForDMA is asked for and of the largest, of another process, and of the
// extension's buffer. A reason takes the place of what cannot be found.
func TestAddresses(t *testing.T) {
	device := dma.Simulate()
	defer func() { require.NoError(t, device.Close()) }()
	const most = prepareSize + 16<<20
	f := finder{
		own: func(_ context.Context, b *unimem.Block) ([]dma.Segment, time.Duration, error) {
			s, err := device.Segments(b)
			return s, 7, errors.Join(err, device.Release(b))
		},
		other: func(context.Context, *unimem.Block) ([]dma.Segment, error) { return nil, errors.New("no such surface") },
		buffer: func(_ context.Context, size int) ([]dma.Segment, error) {
			return []dma.Segment{{Address: 1 << 40, Length: uint64(size) - 1<<14}, {Address: 1 << 30, Length: 1 << 14}}, nil
		},
	}
	r := &Result{}
	require.NoError(t, step.Run(t.Context(), func(t *step.T) { r.addresses(t, f, most, true) }))
	for _, size := range []int{prepareSize, most} {
		require.EqualValues(t, 1, *r.find("device addresses", size).Value)
		require.EqualValues(t, 7, *r.find("PrepareForDMA", size).Value)
	}
	require.Nil(t, r.find("device addresses, another process", most).Value)
	require.Equal(t, "no such surface", r.find("device addresses, another process", most).Note)
	require.EqualValues(t, 2, *r.find("buffer of the extension", most).Value)
	require.Len(t, r.Segments, 4)
	require.Equal(t, Segment{"buffer of the extension", most, "0x40000000", 1 << 14}, r.Segments[3])
	var sum uint64
	for _, s := range r.Segments {
		if s.Of == "device addresses" && s.Bytes == most {
			sum += s.Length
		}
	}
	require.EqualValues(t, most, sum)
}

// Another process that has only the memory's descriptor finds the same page frames.
func TestAnotherProcess(t *testing.T) {
	if host.Mac {
		t.Skip("a Mac measures by the driver extension")
	}
	b, err := unimem.Open(1<<20, unimem.Warm())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	own, _, err := frames(t.Context(), b)
	theirs, failed := elsewhere(t.Context(), b)
	if err != nil {
		require.ErrorContains(t, failed, "page frames")
		t.Skip(err)
	}
	require.NoError(t, failed)
	require.Equal(t, own, theirs)
}

// with measures with a machine.
func (r *Result) with(t *testing.T, m *machine) {
	require.NoError(t, step.Run(t.Context(), func(t *step.T) { r.machine(t, m, 1<<20) }))
}

func TestMachine(t *testing.T) {
	const granule = 16 << 10
	refuse := 1 << 30 // bytes from which on mappings are refused
	mapping := 0
	m := &machine{
		mapped: func(_ uintptr, size int) error {
			if mapping != 0 || size%granule != 0 || size >= refuse {
				return fmt.Errorf("%d bytes", size)
			}
			mapping = size
			return nil
		},
		unmapped: func(size int) error {
			if mapping != size {
				return errors.New("another mapping")
			}
			mapping = 0
			return nil
		},
	}
	r := &Result{}
	r.with(t, m)
	require.EqualValues(t, granule, *r.find("smallest mapping", 0).Value)
	require.Contains(t, r.find("smallest mapping", 0).Note, "8192 are refused")
	require.NotNil(t, r.find("map", 1<<20).Value)
	require.Positive(t, *r.find("access before", 1<<20).Value)
	require.Positive(t, *r.find("access while mapped", 1<<20).Value)
	require.Zero(t, mapping, "unmapped")

	refuse = 0
	r = &Result{}
	r.with(t, m)
	require.Nil(t, r.find("smallest mapping", 0).Value)
	require.Nil(t, r.find("map", 1<<20).Value)
	require.Contains(t, r.find("map", 1<<20).Note, "1048576 bytes")
}

// The hypervisor of this system, where it has one.
func TestHypervisor(t *testing.T) {
	leaktest.SkipEmulated(t)
	r, err := Run(t.Context(), Hypervisor, 1<<20, true)
	if errors.Is(err, ane.ErrUnavailable) {
		require.Nil(t, r.find("create", 0).Value)
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Positive(t, *r.find("create", 0).Value)
	granule := int(*r.find("smallest mapping", 0).Value)
	require.True(t, granule == 4<<10 || granule == 16<<10 || granule == 64<<10, "%d is a page", granule)
	require.Positive(t, *r.find("access while mapped", 1<<20).Value)
}

// Every line of the cycle is visited once.
func TestShuffle(t *testing.T) {
	words := make([]uint64, 8*1000)
	shuffle(words)
	seen := map[uint64]bool{}
	at := uint64(0)
	for range 1000 {
		at = follow(words, at, 1)
		require.Zero(t, at%8)
		require.False(t, seen[at])
		seen[at] = true
	}
	require.Zero(t, at, "back at the first")
}
