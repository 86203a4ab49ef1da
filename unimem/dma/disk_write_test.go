package dma

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// A Block goes to a file, past the page cache where the system permits, and nothing else changes.
func TestDiskWritesABlock(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		opts []Option
	}{
		"whole": {5 << 20, nil}, "split": {5 << 20, []Option{longestSegment(PageSize)}}, "ragged": {5<<20 + 777, nil},
	} {
		t.Run(name, func(t *testing.T) {
			data := pattern(c.size)
			path := write(t, data)
			b := newBlock(t, 6<<20)
			d := simulate(t, c.opts...)
			k, err := OpenDisk(within(t), d, path, Writable())
			require.NoError(t, err)
			if plain, err := OpenDisk(within(t), d, path); err == nil {
				require.Equal(t, plain.Direct() && c.size%Sector == 0, k.Direct(), "whole blocks of the file are direct")
			}
			require.ErrorIs(t, k.Write(within(t), b, 0, 0, 1), ErrNotMapped)
			_, err = d.Segments(b)
			require.NoError(t, err)
			want := bytes.Clone(data)
			put := func(off, first, count int) {
				const n = Sector
				for i := range count * n {
					b.Bytes()[off+i] = byte(i*3 + off)
				}
				require.NoError(t, k.Write(within(t), b, off, int64(first), count))
				copy(want[first*n:], b.Bytes()[off:off+count*n])
			}
			put(2*PageSize, 0, 4<<20/Sector)
			require.NoError(t, k.Flush(within(t)))
			put(Sector, 3, 1)
			put(5*Sector, 9, 300)
			require.NoError(t, k.Flush(within(t)))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "also the length of the file")

			// The disk has what it was given.
			clear(b.Bytes())
			require.NoError(t, k.Read(within(t), b, 0, 0, int(k.Blocks())))
			require.True(t, bytes.Equal(want, b.Bytes()[:c.size]))
			require.Zero(t, d.faults())
		})
	}
}

func TestDiskRefusesWrites(t *testing.T) {
	b := newBlock(t, PageSize)
	d := simulate(t)
	path := write(t, pattern(10*Sector))
	k, err := OpenDisk(within(t), d, path)
	require.NoError(t, err)
	_, err = d.Segments(b)
	require.NoError(t, err)
	err = k.Write(within(t), b, 0, 0, 1)
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorContains(t, err, "write of Block")
	require.ErrorContains(t, err, "open the disk with Writable")
	var s *Status
	require.ErrorAs(t, err, &s)
	require.EqualValues(t, 0x20, s.Code)
	require.NoError(t, k.Flush(within(t)))
	require.ErrorIs(t, k.Write(within(t), b, 1, 0, 1), ErrRange)
	require.ErrorIs(t, k.Write(within(t), b, 0, 9, 2), ErrRange)
	require.ErrorIs(t, k.Write(within(t), nil, 0, 0, 1), ErrNotMapped)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, k.Write(gone, b, 0, 0, 1), context.Canceled)
	require.ErrorIs(t, k.Flush(gone), context.Canceled)
	require.NoError(t, k.Close())
	require.ErrorIs(t, k.Write(within(t), b, 0, 0, 1), ErrClosed)
	require.ErrorIs(t, k.Flush(within(t)), ErrClosed)

	_, err = OpenDisk(within(t), d, t.TempDir(), Writable())
	require.ErrorIs(t, err, ErrRefused, "a folder")
	if os.Geteuid() != 0 {
		require.NoError(t, os.Chmod(path, 0o400))
		_, err = OpenDisk(within(t), d, path, Writable())
		require.ErrorIs(t, err, fs.ErrPermission)
	}

	// The last sector has 3996 bytes after the end of the file: only zeros can be written there.
	k, err = OpenDisk(within(t), d, write(t, pattern(100)), Writable())
	require.NoError(t, err)
	copy(b.Bytes(), bytes.Repeat([]byte{9}, Sector))
	require.ErrorIs(t, k.Write(within(t), b, 0, 0, 1), ErrTransfer)
	clear(b.Bytes()[100:Sector])
	require.NoError(t, k.Write(within(t), b, 0, 0, 1))
}

// Each command of a transfer has an error of its own, with its place and its status; the first is the text.
func TestErrorsOfCommands(t *testing.T) {
	const size = 6 << 20
	b := newBlock(t, size)
	d := simulate(t)
	var fails atomic.Bool
	fails.Store(true)
	k := disk(t, d, pattern(size), func() error {
		if fails.Load() {
			return errors.New("EIO")
		}
		return nil
	}, Writable())
	_, err := d.Segments(b)
	require.NoError(t, err)
	for op, run := range map[string]func(context.Context, *unimem.Block, int, int64, int) error{"read": k.Read,
		"write": k.Write} {
		err := run(within(t), b, 0, 0, size/Sector)
		var all Errors
		require.ErrorAs(t, err, &all)
		require.Len(t, all, 6, "a command for each MiB")
		for i, e := range all {
			require.Equal(t, op, e.Op)
			require.Equal(t, i<<20, e.Offset)
			require.ErrorIs(t, e, ErrTransfer)
			var s *Status
			require.ErrorAs(t, e, &s)
			require.EqualValues(t, 2, s.Type)
			require.EqualValues(t, map[string]uint8{"read": 0x81, "write": 0x80}[op], s.Code)
		}
		require.ErrorIs(t, err, ErrTransfer)
		var one *Error
		require.ErrorAs(t, err, &one)
		require.Zero(t, one.Offset)
		require.ErrorContains(t, err, "; 5 other commands failed too")
		require.NotContains(t, err.Error(), "\n")

		err = run(within(t), b, 0, 0, 1)
		require.ErrorAs(t, err, &one)
		require.False(t, errors.As(err, &all), "one command has one error")
	}
	var status *Status
	require.ErrorAs(t, k.Flush(within(t)), &status)
	require.EqualValues(t, 0x80, status.Code)
	fails.Store(false)
	require.NoError(t, k.Write(within(t), b, 0, 0, size/Sector))
	require.NoError(t, k.Flush(within(t)))
}
