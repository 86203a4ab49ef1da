//go:build !macrules

package broker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/unimem"
)

// belled is a link whose broker is the test: it has the other ends, and the memory of
// the bell, whose first half is the client's box.
func belled(t *testing.T) (l *link, conn *wire.Conn, bell *wire.Bell, mem []byte) {
	here, conn := wiretest.Pair(t)
	require.NoError(t, here.SetPatience(slice, slice))
	own, memory, err := wire.NewBell()
	require.NoError(t, err)
	bell, err = wire.OpenBell(int(memory.Fd()))
	require.NoError(t, err)
	info, err := memory.Stat()
	require.NoError(t, err)
	mem, err = unix.Mmap(int(memory.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	require.NoError(t, memory.Close())
	l = newLink(here, nil, own)
	l.hello.Bell = true
	t.Cleanup(func() {
		l.close(errEngineClosed, 0)
		<-l.buried
		require.NoError(t, conn.Close())
		require.NoError(t, bell.Close())
		require.NoError(t, unix.Munmap(mem))
	})
	return l, conn, bell, mem
}

// errGone is why tests end a link.
var errGone = errors.New("the broker's process has ended")

// next takes the next frame that was rung.
func next(t *testing.T, b *wire.Bell) wire.Frame {
	t.Helper()
	buf := make([]byte, wire.MaxFrame)
	for end := time.Now().Add(await.Patience); ; {
		f, err := b.Receive(buf, time.Second)
		if err == nil {
			return f
		}
		require.ErrorIs(t, err, wire.ErrTimeout)
		require.True(t, time.Now().Before(end), "nothing was rung")
	}
}

// rung rings as soon as the bell is free, and tells how it ended.
func rung(ctx context.Context, l *link, p *pending) <-chan error {
	done := make(chan error, 1)
	go func() {
		for !l.ringing.TryLock() {
			select {
			case <-l.buried: // it never is again
				done <- notSent(errEngineClosed)
				return
			default:
			}
		}
		err := l.ring(p, wire.Frame{Kind: wire.KindEvaluate})
		if err == nil {
			err = l.await(ctx, p)
		}
		done <- err
	}()
	return done
}

func unsent(err error) bool { return errors.Is(err, wire.Unsent) }

// While a link ends, the next caller at the bell does not make it look as if the request
// before had not been seen: that would be made a second time.
func TestSeenRequestsAreNotMadeAgain(t *testing.T) {
	for range effort.Rounds(50, 5) {
		l, _, bell, _ := belled(t)
		first := rung(context.Background(), l, newPending())
		next(t, bell)
		second := rung(context.Background(), l, newPending())
		l.close(errGone, 0)
		err := <-first
		require.True(t, gone(err))
		require.False(t, unsent(err), "the broker has seen it")
		err = <-second
		require.True(t, gone(err))
		if _, got := bell.Receive(make([]byte, wire.MaxFrame), 0); got == nil {
			require.False(t, unsent(err), "the broker can see it")
		}
	}
}

// What the broker answered before it ended counts.
func TestAnswerBeforeTheEnd(t *testing.T) {
	for range 50 {
		l, conn, bell, _ := belled(t)
		p := newPending()
		done := rung(context.Background(), l, p)
		id := next(t, bell).ID
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: id}))
		require.NoError(t, conn.Close())
		require.NoError(t, <-done)
		require.Equal(t, wire.KindEvaluate|wire.Reply, p.kind)
	}
}

// A link can end while no answer comes to what was given up.
func TestGivenUpWhileItEnds(t *testing.T) {
	for range 50 {
		l, conn, bell, _ := belled(t)
		p := newPending()
		ctx, cancel := context.WithCancel(context.Background())
		done := rung(ctx, l, p)
		next(t, bell)
		go func() { _ = conn.Close() }()
		cancel()
		err := <-done
		if isInFlight(err) {
			err = l.await(context.Background(), p)
		}
		require.True(t, gone(err), "%v", err)
		<-l.buried
	}
}

// A run whose broker was left in the middle of it is not over before the broker is.
func TestRunOutlivesItsLink(t *testing.T) {
	for _, patient := range []bool{true, false} {
		r := newRig(t, Options{}, endless())
		s := r.link(t)
		pid := s.child.cmd.Process.Pid
		ctx, cancel := context.WithCancel(t.Context())
		if patient {
			ctx = t.Context()
		}
		done := make(chan error, 1)
		go func() { done <- r.run(ctx) }()
		runs(t, s)
		signal(t, pid, unix.SIGSTOP)
		frozen(t, pid)
		go s.close(errGone, 50*time.Millisecond)
		await.Until(t, "the link is over", s.over.Load)
		cancel()
		require.ErrorIs(t, <-done, ane.ErrLost)
		require.NoError(t, r.request.Close())
		if err := r.out.Block().Close(); patient || err == nil {
			require.NoError(t, err)
			require.False(t, lives(pid), "the Block was released before")
		} else {
			require.ErrorIs(t, err, unimem.ErrInUse)
		}
		ends(t, pid)
		<-s.buried
		await.Until(t, "the Blocks are free",
			func() bool { return r.in.Block().Close() == nil && r.out.Block().Close() == nil })
	}
}

// Whatever a broker writes into the bell, a call ends with its context at the latest, and
// with its own answer, or a lost broker, before.
func TestBrokerScribbles(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	ends := map[string]int{}
	const scribbles = 100_000 // before the context ends
	for round := range uint64(effort.Rounds(100, 25)) {
		l, _, bell, mem := belled(t)
		dice := rand.New(rand.NewPCG(seed, round))
		stop := make(chan struct{})
		ctx, expire := await.Deadline(context.Background())
		var scribbling sync.WaitGroup
		scribbling.Go(func() {
			at := []int{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 64, 66, 70, 72, 80, 81}
			if round%2 == 0 {
				mem[11] = 0x40 // what is rung looks as if it had been taken back
				at = at[:1]    // and it rings without end
				mem[3] = 0x3f
			}
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if n == scribbles {
					expire()
				}
				mem[at[dice.IntN(len(at))]] = byte(dice.Uint32())
				if round%2 == 1 && dice.IntN(100) == 0 {
					_ = bell.Send(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: wire.BellID | dice.Uint64N(4)})
				}
			}
		})
		for i := 0; ; i++ {
			p := newPending()
			err := <-rung(ctx, l, p)
			if err == nil {
				require.Equal(t, wire.BellID|l.rung, p.id)
				if i < 100 {
					continue
				}
			}
			switch {
			case isInFlight(err):
				ends["out"]++
				l.close(errGone, 0)
				_ = l.await(context.Background(), p) // whatever was scribbled
			case gone(err):
				ends["lost"]++
			case err != nil:
				ends["ended"]++
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			break
		}
		close(stop)
		scribbling.Wait()
	}
	t.Log(ends)
	require.NotZero(t, ends["lost"])
	require.NotZero(t, ends["ended"], "those that nothing was answered to")
}

// frozen waits until every thread of a stopped process stands still.
func frozen(t *testing.T, pid int) {
	t.Helper()
	await.Until(t, "every thread has stopped", func() bool {
		dir := fmt.Sprintf("/proc/%d/task/", pid)
		for _, task := range names(dir) {
			data, err := os.ReadFile(dir + task + "/stat")
			if _, rest, _ := strings.Cut(string(data), ") "); err != nil || !strings.HasPrefix(rest, "T") {
				return false
			}
		}
		return true
	})
}

// What a broker that stood still had not seen when its caller stopped waiting is never run.
func TestTakenBackIsNeverRun(t *testing.T) {
	r := newRig(t, Options{}, negation())
	pid := r.pid(t)
	s, err := r.engine.(*engine).link(t.Context())
	require.NoError(t, err)
	for i := range 5 {
		n := float32(2*i + 1)
		r.negates(t, n)
		signal(t, pid, unix.SIGSTOP)
		frozen(t, pid)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		require.ErrorIs(t, r.negate(ctx, n+1), ane.ErrDeadline)
		cancel()
		signal(t, pid, unix.SIGCONT)
		require.NoError(t, s.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
		var stats wire.Stats
		require.NoError(t, s.ask(wire.KindStats, &wire.Empty{}, &stats))
		require.Contains(t, stats.Counters, wire.Counter{Name: "evaluations", Value: uint64(i + 1)})
		out := make([]float32, r.out.Layout().Elements())
		_, err := r.out.ReadFloat32(out)
		require.NoError(t, err)
		require.Equal(t, -n, out[0])
	}
}
