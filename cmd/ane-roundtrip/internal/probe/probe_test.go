package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/step"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

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
