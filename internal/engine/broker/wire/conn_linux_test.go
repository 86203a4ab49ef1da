//go:build !macrules

package wire_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
)

func pair(t testing.TB) (a, b *wire.Conn) {
	a, b = wiretest.Pair(t)
	t.Cleanup(func() {
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
	})
	return a, b
}

// raw is a Conn and the bare socket at its other end.
func raw(t testing.TB) (*wire.Conn, int) {
	c, f := wiretest.PairFile(t)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, f.Close())
	})
	return c, int(f.Fd())
}

// steady demands that f leaves no descriptor open.
func steady(t testing.TB, f func()) {
	t.Helper()
	before := descriptors()
	f()
	require.Empty(t, newDescriptors(before))
}

func buffer() []byte { return make([]byte, wire.MaxFrame) }

func TestSendAndReceive(t *testing.T) {
	a, b := pair(t)
	for _, n := range []int{0, 1, 40, 231, 232, 233, 4096, wire.MaxPayload} {
		want := wire.Frame{Kind: wire.KindPing, ID: uint64(n), Payload: make([]byte, n)}
		for i := range want.Payload {
			want.Payload[i] = byte(i * 7)
		}
		require.NoError(t, a.Send(want))
		got, fds, err := b.Receive(buffer())
		require.NoError(t, err)
		require.Empty(t, fds)
		require.Equal(t, want, got)
	}
	require.EqualValues(t, 8, a.Traffic().FramesOut)
	require.Equal(t, a.Traffic().BytesOut, b.Traffic().BytesIn)
	require.EqualValues(t, 8*wire.HeaderSize+1+40+231+232+233+4096+wire.MaxPayload, b.Traffic().BytesIn)
	require.Zero(t, b.Traffic().FramesOut)
}

func TestDescriptorsTravel(t *testing.T) {
	a, b := pair(t)
	steady(t, func() {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		fds := make([]int, wire.MaxDescriptors)
		for i := range fds {
			fds[i] = int(w.Fd())
		}
		require.NoError(t, a.Send(wire.Frame{Kind: wire.KindSurface, Payload: []byte("x")}, fds...))
		require.NoError(t, w.Close())
		_, got, err := b.Receive(buffer())
		require.NoError(t, err)
		require.Len(t, got, wire.MaxDescriptors)
		for i, fd := range got {
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
			require.NoError(t, err)
			require.NotZero(t, flags&unix.FD_CLOEXEC)
			_, err = unix.Write(fd, []byte{byte(i)})
			require.NoError(t, err)
		}
		got.Close()
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Len(t, text, wire.MaxDescriptors)
		require.NoError(t, r.Close())
	})

	err := a.Send(wire.Frame{Kind: wire.KindSurface}, make([]int, wire.MaxDescriptors+1)...)
	require.ErrorIs(t, err, wire.ErrDescriptors)
	err = a.Send(wire.Frame{Kind: wire.KindSurface}, 1<<20)
	require.ErrorIs(t, err, wire.ErrSocket)
	require.ErrorIs(t, err, unix.EBADF)
	require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindSurface}, -1), wire.ErrSocket)
	require.NoError(t, a.Send(wire.Frame{Kind: wire.KindPing}), "refusals leave the Conn as it was")
	_, fds, err := b.Receive(buffer())
	require.NoError(t, err)
	require.Empty(t, fds)
}

// push sends bytes with n descriptors past Conn.
func push(fd int, b []byte, n int) error {
	var rights []byte
	if n > 0 {
		rights = unix.UnixRights(slices.Repeat([]int{fd}, n)...)
	}
	return unix.Sendmsg(fd, b, rights, nil, 0)
}

// Whatever is wrong with a packet, its descriptors are closed and the next one arrives.
func TestNoDescriptorLeaks(t *testing.T) {
	leaktest.SkipEmulated(t) // qemu loses what does not fit into a control message
	c, peer := raw(t)
	good := wire.Frame{Kind: wire.KindPing, ID: 9}.Append(nil)
	spoilt := func(i int, v byte) []byte { b := append([]byte(nil), good...); b[i] = v; return b }
	for name, test := range map[string]struct {
		packet []byte
		fds    int
		buf    int
		want   error
	}{
		"flood":              {good, 253, wire.MaxFrame, wire.ErrDescriptors},
		"one too many":       {good, wire.MaxDescriptors + 1, wire.MaxFrame, wire.ErrDescriptors},
		"no frame":           {[]byte("x"), 16, wire.MaxFrame, wire.ErrShort},
		"magic":              {spoilt(0, 0), 16, wire.MaxFrame, wire.ErrMagic},
		"version":            {spoilt(4, 9), 16, wire.MaxFrame, wire.ErrVersion},
		"kind":               {spoilt(6, 99), 3, wire.MaxFrame, wire.ErrKind},
		"trailing":           {append(append([]byte(nil), good...), 1), 3, wire.MaxFrame, wire.ErrTrailing},
		"longer than buffer": {append(append([]byte(nil), good...), 1), 3, wire.HeaderSize, wire.ErrLong},
		"beyond MaxFrame":    {make([]byte, wire.MaxFrame+1), 3, wire.MaxFrame, wire.ErrLong},
		"no packet":          {nil, 1, wire.MaxFrame, wire.ErrShort},
		"long without memfd": {spoilt(12, wire.FlagLong), 0, wire.MaxFrame, wire.ErrDescriptors},
		"long with a socket": {spoilt(12, wire.FlagLong), 2, wire.MaxFrame, wire.ErrSeal},
	} {
		steady(t, func() {
			require.NoError(t, push(peer, test.packet, test.fds), name)
			_, fds, err := c.Receive(make([]byte, test.buf))
			require.ErrorIs(t, err, test.want, name)
			require.Nil(t, fds)
		})
	}
	require.NoError(t, unix.Send(peer, good, 0))
	f, _, err := c.Receive(buffer())
	require.NoError(t, err)
	require.EqualValues(t, 9, f.ID)
	_, _, err = c.Receive(make([]byte, wire.HeaderSize-1))
	require.ErrorIs(t, err, wire.ErrShort)
}

// A process that may open nothing more refuses the frame and works on.
func TestDescriptorsExhausted(t *testing.T) {
	c, peer := raw(t)
	buf := buffer()
	require.NoError(t, push(peer, wire.Frame{Kind: wire.KindSurface}.Append(nil), 8))
	before := descriptors()
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	next, err := unix.Dup(0) // the lowest number that is free
	require.NoError(t, err)
	require.NoError(t, unix.Close(next))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(next + 2), Max: old.Max}))
	_, _, err = c.Receive(buf)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	require.ErrorIs(t, err, wire.ErrDescriptors)
	require.ErrorContains(t, err, "ulimit -n")
	require.Empty(t, newDescriptors(before))
	require.NoError(t, c.Send(wire.Frame{Kind: wire.KindPing}))
}

func TestLongPayloads(t *testing.T) {
	a, b := pair(t)
	steady(t, func() {
		want := make([]byte, wire.MaxLong)
		for i := range want {
			want[i] = byte(i >> 8)
		}
		require.NoError(t, a.Send(wire.Frame{Kind: wire.KindCompile, ID: 3, Payload: want}, 1, 2))
		f, fds, err := b.Receive(buffer())
		require.NoError(t, err)
		require.Len(t, fds, 2)
		require.Zero(t, f.Flags)
		require.EqualValues(t, 3, f.ID)
		require.Equal(t, want, f.Payload)
		fds.Close()
	})
	require.EqualValues(t, wire.HeaderSize, b.Traffic().BytesIn)
	require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindPing, Payload: make([]byte, wire.MaxLong+1)}), wire.ErrLong)
	err := a.Send(wire.Frame{Kind: wire.KindPing, Payload: make([]byte, wire.MaxPayload+1)},
		make([]int, wire.MaxDescriptors)...)
	require.ErrorIs(t, err, wire.ErrDescriptors, "no room for the memfd")
	require.ErrorIs(t, a.Send(wire.Frame{}), wire.ErrKind)
	require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindPing, Flags: wire.FlagLong}), wire.ErrValue)
}

// TestLongFramesAreBounded: a payload in a memfd is refused before it is read when it is longer than any needs to be.
func TestLongFramesAreBounded(t *testing.T) {
	c, peer := raw(t)
	file, err := wire.Seal("long", make([]byte, wire.MaxLong+1))
	require.NoError(t, err)
	defer file.Close()
	frame := wire.Frame{Kind: wire.KindCompile, Flags: wire.FlagLong}.Append(nil)
	require.NoError(t, unix.Sendmsg(peer, frame, unix.UnixRights(int(file.Fd())), nil, 0))
	_, fds, err := c.Receive(buffer())
	require.ErrorIs(t, err, wire.ErrLong)
	require.Nil(t, fds)
}

// sleeper runs f in a thread of its own and returns when that sleeps.
func sleeper(t *testing.T, f func() error) <-chan error {
	t.Helper()
	thread, done := make(chan int, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		done <- f()
	}()
	stat := fmt.Sprintf("/proc/self/task/%d/stat", <-thread)
	await.Until(t, "the thread sleeps", func() bool {
		text, err := os.ReadFile(stat)
		_, state, _ := strings.Cut(string(text), ") ")
		return err != nil || strings.HasPrefix(state, "S")
	})
	return done
}

func TestCloseWakesReceive(t *testing.T) {
	for round := range 100 {
		a, _ := pair(t)
		receive := func() error {
			_, _, err := a.Receive(buffer())
			return err
		}
		done := make(chan error, 1)
		if round%2 == 0 {
			go func() { done <- receive() }() // before Close, amid it or after it
			require.NoError(t, a.Close())
			require.ErrorIs(t, await.Value(t, done), wire.ErrClosed)
		} else {
			done := sleeper(t, receive)
			require.NoError(t, a.Close())
			require.ErrorIs(t, await.Value(t, done), wire.ErrClosed)
		}
		require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindPing}), wire.ErrClosed)
		require.ErrorIs(t, a.Control(func(int) error { return nil }), wire.ErrClosed)
		require.ErrorIs(t, a.SetPatience(1, 1), wire.ErrClosed)
	}
}

// The peer is frozen: it reads nothing, so sooner or later there is no room.
func TestCloseWakesSend(t *testing.T) {
	a, _ := pair(t)
	done := make(chan error, 1)
	go func() {
		var writers sync.WaitGroup
		var failed [4]error
		for i := range failed {
			writers.Go(func() {
				for failed[i] == nil {
					failed[i] = a.Send(wire.Frame{Kind: wire.KindPing, Payload: make([]byte, 1<<14)})
				}
			})
		}
		writers.Wait()
		for _, err := range failed {
			if !errors.Is(err, wire.ErrClosed) {
				done <- err
			}
		}
		close(done)
	}()
	await.Until(t, "there is no room", func() (full bool) {
		require.NoError(t, a.Control(func(fd int) error {
			_, err := unix.SendmsgN(fd, make([]byte, 1<<14), nil, nil, unix.MSG_DONTWAIT)
			full = errors.Is(err, unix.EAGAIN)
			return nil
		}))
		return full
	})
	require.NoError(t, a.Close())
	require.NoError(t, await.Value(t, done))
}

func TestPeerGone(t *testing.T) {
	a, b := pair(t)
	require.NoError(t, b.Send(wire.Frame{Kind: wire.KindPing, ID: 5}))
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	f, _, err := a.Receive(buffer())
	require.NoError(t, err, "what was sent before arrives")
	require.EqualValues(t, 5, f.ID)
	_, _, err = a.Receive(buffer())
	require.ErrorIs(t, err, wire.ErrClosed)
	require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindPing}), wire.ErrClosed)
}

// A Conn that was never opened has no descriptor, in particular not 0.
func TestZeroConn(t *testing.T) {
	require.NoError(t, (*wire.Conn)(nil).Close())
	for _, c := range []*wire.Conn{{}} {
		require.NoError(t, c.Close())
		require.ErrorIs(t, c.Send(wire.Frame{Kind: wire.KindPing}), wire.ErrClosed)
		_, _, err := c.Receive(buffer())
		require.ErrorIs(t, err, wire.ErrClosed)
		require.ErrorIs(t, c.Control(func(int) error { return nil }), wire.ErrClosed)
		require.ErrorIs(t, c.SetPatience(1, 1), wire.ErrClosed)
		require.Zero(t, c.Traffic())
	}
	_, err := unix.FcntlInt(0, unix.F_GETFD, 0)
	require.NoError(t, err, "standard input is still open")
	for _, s := range []*wire.Sealed{nil, {}} {
		require.NoError(t, s.Close())
		require.Nil(t, s.Bytes())
	}
}

func TestPatience(t *testing.T) {
	a, b := pair(t)
	for _, d := range []time.Duration{1, time.Millisecond} {
		require.NoError(t, a.SetPatience(d, d))
		_, _, err := a.Receive(buffer())
		require.ErrorIs(t, err, wire.ErrTimeout)
	}
	err := await.Done(t, func() (err error) {
		for err == nil {
			err = a.Send(wire.Frame{Kind: wire.KindPing, Payload: make([]byte, 1<<14)})
		}
		return err
	})
	require.ErrorIs(t, err, wire.ErrTimeout)
	for range a.Traffic().FramesOut {
		_, _, err := b.Receive(buffer())
		require.NoError(t, err)
	}
	require.NoError(t, a.Send(wire.Frame{Kind: wire.KindPing}))
	require.NoError(t, b.Send(wire.Frame{Kind: wire.KindPing, ID: 8}))
	f, _, err := a.Receive(buffer())
	require.NoError(t, err)
	require.EqualValues(t, 8, f.ID)
	require.NoError(t, a.SetPatience(-1, -1))
	go func() { _ = b.Send(wire.Frame{Kind: wire.KindPing}) }()
	_, _, err = a.Receive(buffer())
	require.NoError(t, err)
}

func TestNewConnRefuses(t *testing.T) {
	_, err := wire.NewConn(-1)
	require.ErrorIs(t, err, wire.ErrSocket)
}

// Several writers and readers at once, and a Close in the middle: no frame is mixed.
func TestConcurrentUse(t *testing.T) {
	a, b := pair(t)
	const writers, each = 4, 500
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				payload := make([]byte, i%300)
				for j := range payload {
					payload[j] = byte(w)
				}
				_ = a.Send(wire.Frame{Kind: wire.KindPing, ID: uint64(w), Payload: payload})
			}
		})
	}
	var got sync.Map
	for range 2 {
		all.Go(func() {
			buf := buffer()
			for {
				f, _, err := b.Receive(buf)
				if err != nil {
					return
				}
				for _, v := range f.Payload {
					if uint64(v) != f.ID {
						got.Store("mixed", f.ID)
					}
				}
				if b.Traffic().FramesIn == writers*each {
					_ = b.Close()
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, writers*each, b.Traffic().FramesIn)
	_, mixed := got.Load("mixed")
	require.False(t, mixed)
}

// A frame costs no memory when it is sent, and the address of its sender when it is received.
func TestFewAllocations(t *testing.T) {
	a, b := pair(t)
	buf, out := buffer(), make([]byte, 0, 64)
	e := wire.Evaluate{Request: 1, Sequence: 2}
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		if a.Send(wire.Frame{Kind: wire.KindEvaluate, ID: 1, Payload: wire.Append(out, &e)}) != nil {
			panic("send")
		}
		f, _, err := b.Receive(buf)
		var got wire.Evaluate
		if err != nil || wire.Parse(f.Payload, &got) != nil || got != e {
			panic("receive")
		}
	}), 1.0)
	require.NoError(t, b.SetPatience(1, 1))
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		if _, _, err := b.Receive(buf); !errors.Is(err, wire.ErrTimeout) {
			panic("no timeout")
		}
	}), 1.0)
}

func TestPeerCredentials(t *testing.T) {
	a, _ := pair(t)
	var peer wire.Credentials
	err := a.Control(func(fd int) (err error) {
		peer, err = wire.PeerOf(fd)
		return err
	})
	require.NoError(t, err)
	require.False(t, peer.Foreign())
	require.True(t, wire.Credentials{UID: peer.UID + 1}.Foreign())
	require.Equal(t, wire.Credentials{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), PID: os.Getpid()}, peer)
	_, err = wire.PeerOf(-1)
	require.ErrorIs(t, err, wire.ErrSocket)
	require.ErrorIs(t, err, syscall.EBADF)
}
