package hal_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

func TestAlloca(t *testing.T) {
	d := newDevice(t)
	q, ctx := d.Queue(), context.Background()
	s, end := hal.NewSemaphore(0), hal.NewSemaphore(0)
	b, err := q.Alloca(ctx, []hal.Point{{s, 1}}, []hal.Point{{s, 2}}, 100)
	require.NoError(t, err)
	require.Nil(t, b.Bytes())
	require.Equal(t, 100, b.Size())
	out := newBuffer(t, d, 100)
	c := record(t, d, hal.Reusable, func(c *hal.CommandBuffer) {
		c.Fill(b.Range(0, 100), []byte{5})
		c.Copy(out.Range(0, 100), b.Range(0, 100))
	})
	require.ErrorIs(t, run(t, d, c), hal.ErrClosed, "before its Alloca")
	require.Equal(t, make([]byte, 100), out.Bytes())
	require.NoError(t, q.Execute(ctx, []hal.Point{{s, 2}}, []hal.Point{{s, 3}}, c))
	require.NoError(t, q.Dealloca(ctx, []hal.Point{{s, 4}}, []hal.Point{{end, 1}}, b))
	require.NoError(t, s.Signal(1))
	require.NoError(t, wait(t, s, 3))
	require.Equal(t, bytes.Repeat([]byte{5}, 100), out.Bytes())
	require.Equal(t, bytes.Repeat([]byte{5}, 100), b.Bytes())
	live := unimem.Live().Blocks
	require.NoError(t, s.Signal(4))
	require.NoError(t, wait(t, end, 1))
	require.Nil(t, b.Bytes())
	require.Equal(t, live-1, unimem.Live().Blocks)
	require.ErrorIs(t, run(t, d, c), hal.ErrClosed, "after its Dealloca")
	require.NoError(t, q.Dealloca(ctx, nil, []hal.Point{{end, 2}}, b))
	require.ErrorIs(t, wait(t, end, 2), hal.ErrClosed)
	require.NoError(t, b.Close())
	for size, kind := range map[int]error{0: unimem.ErrZeroSize, -1: unimem.ErrSize} {
		_, err = q.Alloca(ctx, nil, nil, size)
		require.ErrorIs(t, err, kind)
		_, err = d.NewBuffer(size)
		require.ErrorIs(t, err, kind)
	}
	huge := hal.NewSemaphore(0)
	b, err = q.Alloca(ctx, nil, []hal.Point{{huge, 1}}, math.MaxInt/2)
	require.NoError(t, err)
	require.ErrorIs(t, wait(t, huge, 1), unimem.ErrCreate)
	require.Nil(t, b.Bytes())
	require.ErrorIs(t, q.Dealloca(ctx, nil, nil, nil), hal.ErrClosed)
	require.ErrorIs(t, newDevice(t).Queue().Dealloca(ctx, nil, nil, b), ane.ErrForeign)
	require.NoError(t, b.Close())
}
