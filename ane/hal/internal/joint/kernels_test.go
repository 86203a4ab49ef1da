package joint_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/hal/internal/joint"
	"github.com/anekit/anekit/unimem"
)

// plain is a Buffer of a GPU that only knows its Block.
type plain struct{ block *unimem.Block }

func (p *plain) Address() uintptr { return p.block.Address() }
func (p *plain) Close() error     { p.block.Release(); return nil }

// kernelsOf has the kernel "half", which needs half of each of its 2 ranges, with 4 bytes of constants, and "trusted",
// which says nothing.
func kernelsOf(execute func(signals []hal.Point, ranges [][2]int) error) hal.GPU {
	return &joint.Kernels[*plain, string]{Align: 16, Named: map[string]string{"half": "half", "trusted": ""},
		Make: func(_ context.Context, b *unimem.Block) (*plain, error) { return &plain{b}, b.Retain() },
		Describe: func(k string) (joint.Needs, int, int) {
			if k == "" {
				return nil, 2, 4
			}
			return func(push []byte, lengths []int) ([]int, int, int, bool) {
				return []int{lengths[0] / 2, int(push[1])}, 1, 1, push[0] == 1
			}, 2, 4
		},
		Execute: func(signals []hal.Point, _ string, _ *plain, ranges [][2]int, _ []byte, _, _ int) error {
			return execute(signals, ranges)
		}}
}

// A kernel gets the bytes that it needs and no others, and nothing runs that asks for more.
func TestKernels(t *testing.T) {
	var got [][2]int
	gpu := kernelsOf(func(signals []hal.Point, ranges [][2]int) error {
		got = ranges
		joint.Tell(signals, nil)
		return nil
	})
	b, err := unimem.Open(1)
	require.NoError(t, err)
	m, err := gpu.Import(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, b.Address(), m.Address())
	require.Equal(t, 16, gpu.Alignment())
	good := [][2]int{{0, 64}, {64, 8}}
	require.NoError(t, m.Run(t.Context(), "half", good, []byte{1, 8, 0, 0}))
	require.Equal(t, [][2]int{{0, 32}, {64, 8}}, got)
	require.NoError(t, m.Run(t.Context(), "half", good, []byte{1, 5, 0, 0}), "rounded up to a word")
	require.Equal(t, [2]int{64, 8}, got[1])
	for name, c := range map[string]struct {
		kernel string
		ranges [][2]int
		push   []byte
		want   error
	}{
		"unknown":        {"other", good, []byte{1, 8, 0, 0}, ane.ErrName},
		"trusted":        {"trusted", good, []byte{1, 8, 0, 0}, ane.ErrName},
		"one range":      {"half", good[:1], []byte{1, 8, 0, 0}, ane.ErrShape},
		"few constants":  {"half", good, []byte{1, 8}, ane.ErrShape},
		"bad constants":  {"half", good, []byte{2, 8, 0, 0}, ane.ErrShape},
		"short":          {"half", good, []byte{1, 9, 0, 0}, ane.ErrShort},
		"misaligned":     {"half", [][2]int{{0, 64}, {68, 8}}, []byte{1, 8, 0, 0}, ane.ErrAligned},
		"beyond":         {"half", [][2]int{{0, 64}, {unimem.PageSize, 8}}, []byte{1, 8, 0, 0}, ane.ErrShort},
		"negative":       {"half", [][2]int{{-16, 64}, {64, 8}}, []byte{1, 8, 0, 0}, ane.ErrShort},
		"negative bytes": {"half", [][2]int{{0, -64}, {64, 8}}, []byte{1, 8, 0, 0}, ane.ErrShort},
	} {
		got = nil
		require.ErrorIs(t, m.Run(t.Context(), c.kernel, c.ranges, c.push), c.want, name)
		require.Nil(t, got, name)
	}
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
	_, err = gpu.Import(t.Context(), b)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

// Close waits for work that its caller has abandoned, and the error of the GPU reaches the caller of Run.
func TestKernelsThatGoOn(t *testing.T) {
	begun, end := make(chan []hal.Point, 1), errors.New("lost")
	gpu := kernelsOf(func(signals []hal.Point, _ [][2]int) error {
		begun <- signals
		return nil
	})
	b, err := unimem.Open(1)
	require.NoError(t, err)
	m, err := gpu.Import(t.Context(), b)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	run := func(ctx context.Context) {
		result <- m.Run(ctx, "half", [][2]int{{0, 64}, {64, 8}}, []byte{1, 8, 0, 0})
	}
	go run(ctx)
	signals := <-begun
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	go run(t.Context())
	joint.Tell(<-begun, end)
	require.ErrorIs(t, <-result, end)
	closed := make(chan error)
	go func() { closed <- m.Close() }()
	require.ErrorIs(t, b.Close(), unimem.ErrInUse, "the GPU has not ended")
	joint.Tell(signals, nil)
	require.NoError(t, <-closed)
	require.NoError(t, b.Close())
	refused := kernelsOf(func([]hal.Point, [][2]int) error { return end })
	b, err = unimem.Open(1)
	require.NoError(t, err)
	m, err = refused.Import(t.Context(), b)
	require.NoError(t, err)
	require.ErrorIs(t, m.Run(t.Context(), "half", [][2]int{{0, 64}, {64, 8}}, []byte{1, 8, 0, 0}), end)
	require.NoError(t, m.Close())
	require.NoError(t, b.Close())
}
