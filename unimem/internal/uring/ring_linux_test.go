//go:build !macrules

package uring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/ringtest"
	"github.com/anekit/anekit/unimem"
)

func ring(t *testing.T, depth int) *Ring {
	t.Helper()
	r, err := Open(depth)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 ^ i>>8)
	}
	return b
}

// file opens a new file with flags besides O_RDONLY.
func file(t *testing.T, data []byte, flags int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		t.Skip("this file system has no direct reads: ", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func block(t *testing.T, size int) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// TestRead reads parts of a file in any order, again and again, also to registered memory.
func TestRead(t *testing.T) {
	const size, part = 1 << 20, 4096
	data := pattern(size)
	for name, flags := range map[string]int{"direct": unix.O_DIRECT, "buffered": 0} {
		for _, memory := range []int{-1, 0, 1} {
			t.Run(fmt.Sprint(name, memory), func(t *testing.T) {
				f := file(t, data, flags)
				b := block(t, size)
				r := ring(t, 7)
				if memory >= 0 {
					err := r.Register(pattern(10), b.Bytes())
					if errors.Is(err, unix.ENOMEM) {
						t.Skip(err)
					}
					require.NoError(t, err)
				}
				for range 5 {
					clear(b.Bytes())
					var list []*Read
					for _, i := range rand.Perm(size / part) {
						list = append(list, &Read{Mem: b.Bytes()[i*part:][:part], Off: int64(i * part), Memory: memory})
					}
					if memory == 0 { // its number is that of other memory
						require.ErrorIs(t, r.Read(t.Context(), f, list, nil), ErrMemory)
						return
					}
					calls := 0
					require.NoError(t, r.Read(t.Context(), f, list, func(i int) bool {
						calls++
						require.NoError(t, list[i].Err)
						require.Equal(t, part, list[i].N)
						return false
					}))
					require.Equal(t, size/part, calls)
					require.True(t, bytes.Equal(data, b.Bytes()))
				}
			})
		}
	}
}

// A read at the end of a file is short; done asks for the rest.
func TestShortReads(t *testing.T) {
	data := pattern(10000)
	f := file(t, data, 0)
	r := ring(t, 3)
	mem := make([]byte, 20000)
	var got []int
	x := &Read{Mem: mem, Memory: -1}
	require.NoError(t, r.Read(t.Context(), f, []*Read{x}, func(i int) bool {
		require.Zero(t, i)
		got = append(got, x.N)
		x.Mem, x.Off = x.Mem[x.N:], x.Off+int64(x.N)
		return x.N > 0
	}))
	require.Equal(t, []int{10000, 0}, got)
	require.Equal(t, data, mem[:10000])
	require.NoError(t, r.Read(t.Context(), f, nil, nil), "nothing to read")
}

func TestErrorsOfReads(t *testing.T) {
	r := ring(t, 3)
	f := file(t, pattern(4096), 0)
	folder, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer folder.Close()
	list := []*Read{{Mem: make([]byte, 10), Memory: -1}, {Mem: make([]byte, 10), Memory: -1}}
	calls := 0
	require.NoError(t, r.Read(t.Context(), folder, list, func(i int) bool {
		calls++
		require.ErrorIs(t, list[i].Err, unix.EISDIR)
		return false
	}))
	require.Equal(t, 2, calls, "each read has an error of its own")
	for _, x := range []*Read{{Memory: -1}, {Mem: make([]byte, 1), Memory: 0}, {Mem: make([]byte, 1), Memory: 7}} {
		require.ErrorIs(t, r.Read(t.Context(), f, []*Read{x}, nil), ErrMemory)
	}
	require.NoError(t, f.Close())
	require.ErrorIs(t, r.Read(t.Context(), f, list, nil), os.ErrClosed)
	require.NoError(t, r.Register(), "nothing")
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Read(t.Context(), folder, list, nil), ErrClosed)
	require.ErrorIs(t, r.Register(nil), ErrClosed)
}

// A context that ends cancels reads in flight, here of a pipe that has nothing, and reads that have not begun; the
// Ring is good for more.
func TestCancel(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	defer in.Close()
	r := ring(t, 2)
	for range 20 {
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("no more time")
		var list []*Read
		for range 5 {
			list = append(list, &Read{Mem: make([]byte, 8), Off: -1, Memory: -1})
		}
		read := make(chan error, 1)
		go func() { read <- r.Read(ctx, out, list, func(int) bool { return false }) }()
		_, err = in.Write([]byte("one"))
		require.NoError(t, err)
		await.Until(t, "the pipe was read", func() bool { // so that others are in flight
			n, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
			return err == nil && n == 0
		})
		cancel(why)
		require.ErrorIs(t, await.Value(t, read), why)
		cancelled := 0
		for _, x := range list {
			if errors.Is(x.Err, why) {
				cancelled++
			} else {
				require.NoError(t, x.Err)
				require.Equal(t, "one", string(x.Mem[:x.N]))
			}
		}
		require.Equal(t, 4, cancelled)
		r.mu.Lock()
		require.Zero(t, r.q.pending())
		_, more := r.q.pop()
		require.False(t, more, "no request is left")
		r.mu.Unlock()
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	list := []*Read{{Mem: make([]byte, 8), Off: -1, Memory: -1}}
	require.ErrorIs(t, r.Read(gone, out, list, nil), context.Canceled)
	require.ErrorIs(t, list[0].Err, context.Canceled)
	f := file(t, pattern(8), 0)
	list[0].Off = 0
	require.NoError(t, r.Read(t.Context(), f, list, func(int) bool { return false }))
	require.Equal(t, pattern(8), list[0].Mem)
}

func TestRefused(t *testing.T) { ringtest.Refuse(t, "TestFallsBack") }

func TestFallsBack(t *testing.T) {
	if !ringtest.Refused() {
		t.Skip("needs a system without io_uring: TestRefused runs it")
	}
	r, err := Open(4)
	if err == nil {
		defer r.Close()
		err = r.Register(make([]byte, 10))
	}
	if err == nil {
		err = r.Read(t.Context(), file(t, pattern(10), 0), []*Read{{Mem: make([]byte, 10), Memory: -1}}, nil)
	}
	require.ErrorIs(t, err, ErrUnavailable)
	var e *Error
	require.ErrorAs(t, err, &e)
	fmt.Println(err)
}
