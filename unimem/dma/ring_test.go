package dma

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

func ring(t testing.TB, blocks ...*unimem.Block) *Ring {
	t.Helper()
	r, err := OpenRing(blocks...)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestRingReadsToABlock(t *testing.T) {
	const size = 3<<20 + 5000
	data := pattern(size)
	path := write(t, data)
	a, b := newBlock(t, 4<<20, unimem.Warm()), newBlock(t, 5<<20)
	r := ring(t, a, b, a)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	file, direct, err := OpenFile(path)
	require.NoError(t, err)
	defer file.Close()
	for i, b := range []*unimem.Block{a, b} {
		off := i * 4096
		n, err := r.Read(within(t), file, 0, b, off, 4<<20)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, size, n)
		require.True(t, bytes.Equal(data, b.Bytes()[off:off+size]))
		n, err = r.Read(within(t), file, 8192, b, 0, 4096)
		require.NoError(t, err)
		require.Equal(t, 4096, n)
		require.Equal(t, data[8192:8192+4096], b.Bytes()[:4096])
	}
	if direct {
		_, err = r.Read(within(t), file, 1, a, 0, 4096)
		require.ErrorIs(t, err, ErrTransfer, "not a multiple of a block")
	}
	n, err := r.Read(within(t), file, 0, a, 0, 0)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = r.Read(within(t), file, 1<<40, a, 0, 4096)
	require.ErrorIs(t, err, io.EOF)
	require.Zero(t, n)
}

func TestRingRefuses(t *testing.T) {
	a, other := newBlock(t, PageSize), newBlock(t, PageSize)
	r := ring(t, a)
	file, _, err := OpenFile(write(t, pattern(PageSize)))
	require.NoError(t, err)
	defer file.Close()
	read := func(at int64, b *unimem.Block, offset, n int) error {
		_, err := r.Read(within(t), file, at, b, offset, n)
		return err
	}
	require.ErrorIs(t, read(0, other, 0, 1), ErrNotMapped)
	require.ErrorIs(t, read(0, nil, 0, 1), ErrNotMapped)
	for _, c := range [][3]int{
		{-1, 0, 1}, {0, -1, 1}, {0, 0, -1}, {0, PageSize, 1}, {0, 1, PageSize}, {0, 1 << 62, 1 << 62},
	} {
		require.ErrorIs(t, read(int64(c[0]), a, c[1], c[2]), ErrRange)
	}
	folder, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer folder.Close()
	_, err = r.Read(within(t), folder, 0, a, 0, 100)
	require.ErrorIs(t, err, ErrTransfer)
	_, err = r.Read(within(t), file, 0, a, 0, PageSize)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.ErrorIs(t, read(0, a, 0, 1), ErrClosed)

	_, err = OpenRing(a, nil)
	require.ErrorIs(t, err, unimem.ErrClosed)
	fixed, err := unimem.AdoptMemory(make([]byte, PageSize), nil, unimem.ReadOnly())
	require.NoError(t, err)
	_, err = OpenRing(a, fixed)
	require.ErrorIs(t, err, ErrReadOnly)
	require.NoError(t, fixed.Close())
	_, err = OpenRing(fixed)
	require.Error(t, err)
}

func TestRingIsCancelled(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	defer in.Close()
	a := newBlock(t, PageSize)
	r := ring(t, a)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("no more time")
	read := make(chan error, 1)
	go func() { _, err := r.Read(ctx, out, 0, a, 0, 100); read <- err }()
	cancel(why)
	require.ErrorIs(t, await.Value(t, read), why)

	// A Read that waits for another one ends too.
	ctx, cancel = context.WithCancelCause(context.Background())
	go func() { _, err := r.Read(ctx, out, 0, a, 0, 100); read <- err }()
	await.Until(t, "the first Read is at work", func() bool { return len(r.busy) == 1 })
	ended, end := context.WithCancelCause(context.Background())
	end(io.ErrClosedPipe)
	err = await.Done(t, func() error { _, err := r.Read(ended, out, 0, a, 0, 100); return err })
	require.ErrorIs(t, err, io.ErrClosedPipe)
	cancel(why)
	require.ErrorIs(t, await.Value(t, read), why)
}
