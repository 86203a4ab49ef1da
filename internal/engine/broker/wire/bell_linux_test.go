//go:build !macrules

package wire_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/measure"
)

// bells are both ends of a Bell in this process, and its memory.
func bells(t testing.TB) (a, b *wire.Bell, file *os.File) {
	a, file, err := wire.NewBell()
	require.NoError(t, err)
	b, err = wire.OpenBell(int(file.Fd()))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
		require.NoError(t, file.Close())
	})
	return a, b, file
}

// received receives until there is something.
func received(b *wire.Bell, buf []byte) (wire.Frame, error) {
	for {
		f, err := b.Receive(buf, time.Second)
		if err == nil || !isTimeout(err) {
			return f, err
		}
	}
}

func isTimeout(err error) bool { return errors.Is(err, wire.ErrTimeout) }

func TestBellCarriesFrames(t *testing.T) {
	a, b, _ := bells(t)
	buf := buffer()
	_, err := b.Receive(buf, 0)
	require.ErrorIs(t, err, wire.ErrTimeout, "nothing there")
	for i, n := range []int{0, 1, 63, 64, 4096, wire.MaxPayload} {
		payload := make([]byte, n)
		for j := range payload {
			payload[j] = byte(i + j*7)
		}
		sent := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | uint64(i), Payload: payload}
		require.NoError(t, a.Send(sent))
		got, err := b.Receive(buf, 0)
		require.NoError(t, err)
		require.Equal(t, sent, got)
		_, err = b.Receive(buf, time.Nanosecond)
		require.ErrorIs(t, err, wire.ErrTimeout, "taken once")

		sent.Kind = wire.KindFault
		require.NoError(t, b.Send(sent))
		got, err = a.Receive(buf, 0)
		require.NoError(t, err)
		require.Equal(t, sent, got)
	}
	require.EqualValues(t, 6, a.Traffic().FramesOut)
	require.EqualValues(t, 6*wire.HeaderSize+1+63+64+4096+wire.MaxPayload, a.Traffic().BytesIn)
	require.Equal(t, a.Traffic().BytesOut, b.Traffic().BytesIn)
}

func TestBellRefusesToSend(t *testing.T) {
	a, b, _ := bells(t)
	for name, c := range map[string]struct {
		frame wire.Frame
		want  error
	}{
		"no bit": {wire.Frame{Kind: wire.KindEvaluate, ID: 1}, wire.ErrValue},
		"flags":  {wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID, Flags: wire.FlagLong}, wire.ErrValue},
		"kind":   {wire.Frame{Kind: 0x7777, ID: wire.BellID}, wire.ErrKind},
		"payload": {wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID, Payload: make([]byte, wire.MaxPayload+1)},
			wire.ErrLong},
	} {
		require.ErrorIs(t, a.Send(c.frame), c.want, name)
	}
	_, err := b.Receive(buffer(), 0)
	require.ErrorIs(t, err, wire.ErrTimeout, "nothing was sent")
	_, err = b.Receive(make([]byte, 10), 0)
	require.ErrorIs(t, err, wire.ErrShort)
	var none *wire.Bell
	require.NoError(t, none.Close())
	require.Zero(t, none.Traffic())
}

// A frame is taken by the other end or taken back, never both.
func TestBellRetracts(t *testing.T) {
	a, b, _ := bells(t)
	frame := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID}
	require.False(t, a.Retract(), "nothing was sent")
	require.NoError(t, a.Send(frame))
	require.True(t, a.Retract())
	require.False(t, a.Retract(), "once")
	_, err := b.Receive(buffer(), 0)
	require.ErrorIs(t, err, wire.ErrTimeout)
	require.NoError(t, a.Send(frame))
	_, err = b.Receive(buffer(), 0)
	require.NoError(t, err)
	require.False(t, a.Retract(), "taken")
	require.NoError(t, b.Close())
	require.False(t, a.Retract(), "taken, whatever became of the other end")

	a, b, _ = bells(t)
	const rounds = 50_000
	took, stop := make(chan int), make(chan struct{})
	go func() {
		n, buf := 0, buffer()
		for {
			if _, err := b.Receive(buf, 0); err == nil {
				n++
			} else {
				select {
				case <-stop:
					took <- n
					return
				default:
				}
			}
		}
	}()
	back := 0
	for i := range rounds {
		require.NoError(t, a.Send(frame))
		for range i % 50 {
			if b.Traffic().FramesIn == a.Traffic().FramesOut {
				break
			}
		}
		if a.Retract() {
			back++
		}
	}
	close(stop)
	require.Equal(t, rounds, <-took+back)
}

// Close wakes sleepers, at this end alone, and calls under way keep the memory.
func TestBellCloses(t *testing.T) {
	a, b, _ := bells(t)
	done := sleeper(t, func() error {
		_, err := a.Receive(buffer(), time.Hour)
		return err
	})
	require.NoError(t, a.Close())
	require.ErrorIs(t, await.Value(t, done), wire.ErrClosed)
	require.NoError(t, a.Close())
	require.ErrorIs(t, a.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID}), wire.ErrClosed)
	require.NoError(t, b.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID}),
		"the other end is told by the socket")
}

// Whatever the other end writes into the memory, while it is read too, is refused or
// understood.
func TestBellTrustsNothing(t *testing.T) {
	a, b, file := bells(t)
	const head = 64 // where the frame begins
	boxes := [2]int64{0, -1}
	info, err := file.Stat()
	require.NoError(t, err)
	boxes[1] = info.Size() / 2
	poke := func(at int64, bytes ...byte) {
		n, err := unix.Pwrite(int(file.Fd()), bytes, at)
		require.NoError(t, err)
		require.Equal(t, len(bytes), n)
	}
	frame := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | 7, Payload: []byte("abc")}
	good := frame.Append(nil)
	ring := func(length uint32, bytes []byte) error {
		poke(boxes[1]+4, byte(length), byte(length>>8), byte(length>>16), byte(length>>24))
		poke(boxes[1]+head, bytes...)
		var count [4]byte
		_, err := unix.Pread(int(file.Fd()), count[:], boxes[1])
		require.NoError(t, err)
		poke(boxes[1], count[0]+1)
		_, err = b.Receive(buffer(), 0)
		return err
	}
	require.NoError(t, ring(uint32(len(good)), good))
	require.ErrorIs(t, ring(0, good), wire.ErrShort)
	require.ErrorIs(t, ring(3, good), wire.ErrShort)
	require.ErrorIs(t, ring(uint32(len(good))-1, good), wire.ErrShort)
	require.ErrorIs(t, ring(uint32(len(good))+1, good), wire.ErrTrailing)
	require.ErrorIs(t, ring(wire.MaxFrame+1, good), wire.ErrLong)
	require.ErrorIs(t, ring(1<<31, good), wire.ErrLong)
	require.ErrorIs(t, ring(^uint32(0), good), wire.ErrLong)
	require.ErrorIs(t, ring(uint32(len(good)), append([]byte{1}, good...)), wire.ErrMagic)
	plain := frame
	plain.ID = 7
	require.ErrorIs(t, ring(uint32(len(good)), plain.Append(nil)), wire.ErrValue)
	long := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID, Flags: wire.FlagLong}.Append(nil)
	require.ErrorIs(t, ring(uint32(len(long)), long), wire.ErrValue, "there are no descriptors")
	require.NoError(t, a.Send(frame), "and works on")
	got, err := b.Receive(buffer(), 0)
	require.NoError(t, err)
	require.Equal(t, frame, got)

	// A hole is memory of zeros, not a fault.
	require.NoError(t, unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0,
		info.Size()))
	_, err = b.Receive(buffer(), 0)
	require.Error(t, err)
	require.Error(t, unix.Ftruncate(int(file.Fd()), 4096), "sealed")
}

// Counts wrap around.
func TestBellCountsWrapAround(t *testing.T) {
	a, b, file := bells(t)
	info, err := file.Stat()
	require.NoError(t, err)
	for _, box := range []int64{0, info.Size() / 2} {
		for _, at := range []int64{0, 8} { // the count, and the one that was taken last
			_, err := unix.Pwrite(int(file.Fd()), []byte{0xfb, 0xff, 0xff, 0xff}, box+at)
			require.NoError(t, err)
		}
	}
	buf := buffer()
	for i := range uint64(12) {
		for _, from := range []*wire.Bell{a, b} {
			to := a
			if from == a {
				to = b
			}
			sent := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | i, Payload: []byte{byte(i)}}
			require.NoError(t, from.Send(sent))
			if i%3 == 0 {
				require.True(t, from.Retract(), i)
				_, err := to.Receive(buf, 0)
				require.ErrorIs(t, err, wire.ErrTimeout)
				require.NoError(t, from.Send(sent))
			}
			got, err := received(to, buf)
			require.NoError(t, err)
			require.Equal(t, sent, got)
			require.False(t, from.Retract(), i)
		}
	}
}

// Close comes while others send, take back and wait, on either end: the memory stays as
// long as they use it.
func TestBellClosesAtAnyMoment(t *testing.T) {
	for round := range effort.Rounds(100, 25) {
		a, file, err := wire.NewBell()
		require.NoError(t, err)
		b, err := wire.OpenBell(int(file.Fd()))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		var all sync.WaitGroup
		for _, end := range []*wire.Bell{a, b} {
			all.Go(func() {
				for end.Send(wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID}) == nil {
					end.Retract()
				}
			})
			all.Go(func() {
				buf := buffer()
				for {
					if _, err := end.Receive(buf, time.Hour); errors.Is(err, wire.ErrClosed) {
						return
					}
				}
			})
			all.Go(func() {
				time.Sleep(3 * time.Duration(round) * time.Microsecond)
				_ = end.Close()
			})
		}
		all.Wait()
	}
}

// FuzzBell has the other end write anything: what is received is a frame of those bytes
// or refused, once.
func FuzzBell(f *testing.F) {
	good := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | 7, Payload: []byte("abc")}.Append(nil)
	f.Add(uint32(1), uint32(len(good)), uint32(0), good)
	f.Add(uint32(1<<31), uint32(1<<31), uint32(5), good)
	f.Add(^uint32(0), ^uint32(0), ^uint32(0), good[:10])
	f.Fuzz(func(t *testing.T, count, length, taken uint32, frame []byte) {
		_, b, file := bells(t)
		info, err := file.Stat()
		require.NoError(t, err)
		box := info.Size() / 2
		var head [64]byte
		for i, v := range []uint32{count, length, taken} {
			binary.LittleEndian.PutUint32(head[4*i:], v)
		}
		all := append(head[:], frame[:min(len(frame), wire.MaxFrame)]...)
		_, err = unix.Pwrite(int(file.Fd()), all, box)
		require.NoError(t, err)
		buf := buffer()
		got, err := b.Receive(buf, 0)
		if err == nil {
			want := append(all[64:], make([]byte, max(0, int(length)-len(all)+64))...)[:length]
			require.Equal(t, want, got.Append(nil))
			require.NotZero(t, got.ID&wire.BellID)
		}
		_, err = b.Receive(buf, 0)
		require.ErrorIs(t, err, wire.ErrTimeout, "once")
	})
}

func TestOpenBellRefuses(t *testing.T) {
	memfd := func(size int64, seals int) *os.File {
		fd, err := unix.MemfdCreate("no bell", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		require.NoError(t, err)
		f := os.NewFile(uintptr(fd), "no bell")
		require.NoError(t, f.Truncate(size))
		if seals != 0 {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
			require.NoError(t, err)
		}
		return f
	}
	_, _, file := bells(t)
	info, err := file.Stat()
	require.NoError(t, err)
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	for name, c := range map[string]struct {
		size  int64
		seals int
		want  error
	}{
		"not sealed":  {info.Size(), 0, wire.ErrSeal},
		"may shrink":  {info.Size(), unix.F_SEAL_GROW | unix.F_SEAL_SEAL, wire.ErrSeal},
		"empty":       {0, all, wire.ErrShort},
		"short":       {info.Size() - 1, all, wire.ErrShort},
		"long":        {info.Size() + 1, all, wire.ErrLong},
		"not written": {info.Size(), all | unix.F_SEAL_WRITE, wire.ErrSocket},
	} {
		f := memfd(c.size, c.seals)
		b, err := wire.OpenBell(int(f.Fd()))
		require.ErrorIs(t, err, c.want, name)
		require.Nil(t, b)
		require.NoError(t, f.Close())
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	_, err = wire.OpenBell(int(r.Fd()))
	require.ErrorIs(t, err, wire.ErrSeal)
	require.NoError(t, r.Close())
	require.NoError(t, w.Close())
	_, err = wire.OpenBell(-1)
	require.ErrorIs(t, err, wire.ErrSeal)
}

func init() {
	parts["echo bell"] = func() error {
		b, err := wire.OpenBell(3)
		if err != nil {
			return err
		}
		c, err := wire.NewConn(4)
		if err != nil {
			return err
		}
		go func() { // the end of the parent shows here
			_, _, _ = c.Receive(buffer())
			os.Exit(0)
		}()
		buf := buffer()
		for {
			f, err := received(b, buf)
			if err == nil {
				err = b.Send(f)
			}
			if err != nil {
				return fmt.Errorf("echo: %w", err)
			}
		}
	}
}

// bellPeer is a Bell that another process answers.
func bellPeer(t testing.TB) (*wire.Bell, func()) {
	leaktest.SkipEmulated(t) // before anything is open
	b, file, err := wire.NewBell()
	require.NoError(t, err)
	c, peer := wiretest.PairFile(t)
	child := start(t, "echo bell", file, peer)
	return b, func() {
		require.NoError(t, c.Close())
		require.NoError(t, child.Wait())
		require.NoError(t, b.Close())
	}
}

func TestBellBetweenProcesses(t *testing.T) {
	b, end := bellPeer(t)
	defer end()
	buf := buffer()
	for i := range uint64(effort.Rounds(20_000, 5000)) {
		sent := wire.Frame{Kind: wire.KindEvaluate, ID: wire.BellID | i, Payload: []byte(fmt.Sprint(i))}
		require.NoError(t, b.Send(sent))
		got, err := received(b, buf)
		require.NoError(t, err)
		require.Equal(t, sent, got)
	}
}

// A frame there and back over a Bell of two processes.
func BenchmarkPingPongBell(b *testing.B) {
	bell, end := bellPeer(b)
	defer end()
	frame := wire.Frame{Kind: wire.KindPing, ID: wire.BellID, Payload: make([]byte, frameBytes-wire.HeaderSize)}
	buf := buffer()
	measure.Percentiles(b, func() error {
		if err := bell.Send(frame); err != nil {
			return err
		}
		_, err := received(bell, buf)
		return err
	})
}
