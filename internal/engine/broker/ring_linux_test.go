//go:build !macrules

package broker

import (
	"context"
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

// belled is a session whose broker is the test: it has the other ends, and the memory of
// the bell, whose first half is the client's box.
func belled(t *testing.T) (s *session, conn *wire.Conn, bell *wire.Bell, mem []byte) {
	here, conn, err := wiretest.Pair()
	require.NoError(t, err)
	fd := -1
	require.NoError(t, here.Control(func(n int) error { fd = n; return nil }))
	require.NoError(t, here.SetPatience(slice))
	s = newSession(here, fd, nil)
	own, memory, err := wire.NewBell()
	require.NoError(t, err)
	bell, err = wire.OpenBell(int(memory.Fd()))
	require.NoError(t, err)
	info, err := memory.Stat()
	require.NoError(t, err)
	mem, err = unix.Mmap(int(memory.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	require.NoError(t, memory.Close())
	s.hello.Bell = true
	s.install(own, s.hello.Bell)
	t.Cleanup(func() {
		s.close(errEngineClosed, 0)
		<-s.buried
		require.NoError(t, conn.Close())
		require.NoError(t, bell.Close())
		require.NoError(t, unix.Munmap(mem))
	})
	return s, conn, bell, mem
}

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
func rung(ctx context.Context, s *session, c *call) <-chan error {
	done := make(chan error, 1)
	go func() {
		for !s.bell.take() {
			select {
			case <-s.buried: // it never is again
				done <- notSent(errEngineClosed)
				return
			default:
			}
		}
		done <- s.ring(ctx, c, wire.KindEvaluate, nil)
	}()
	return done
}

// While a session ends, the next caller at the bell does not make it look as if the call
// before had not been seen: that would be made a second time.
func TestSeenCallsAreNotMadeAgain(t *testing.T) {
	for range effort.Rounds(5, 1) {
		s, _, bell, _ := belled(t)
		for id := range uint64(1 << 18) { // so that closing it takes some milliseconds
			s.calls[id] = nil
		}
		first := rung(context.Background(), s, newCall())
		next(t, bell)
		second := rung(context.Background(), s, newCall())
		s.close(errGone, 0)
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

// A call that was given up is answered while its broker is lost: late is called once, and
// the call is not touched any more after that.
func TestAnswerOfALostBroker(t *testing.T) {
	for range 200 {
		s, _, bell, _ := belled(t)
		c := newCall()
		ctx, cancel := context.WithCancel(context.Background())
		done := rung(ctx, s, c)
		id := next(t, bell).ID
		cancel()
		require.True(t, isInFlight(<-done))
		free := make(chan struct{}, 2)
		if !s.orphan(c, func(*call) { free <- struct{}{} }) {
			t.Fatal("no answer came")
		}
		var both sync.WaitGroup
		both.Go(func() { _ = bell.Send(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: id, Payload: []byte{1}}) })
		both.Go(func() { s.close(errGone, 0) })
		<-free
		c.id, c.kind, c.body, c.err = 1, 2, append(c.body[:0], 3), nil // used again
		both.Wait()
		<-s.buried
		require.Empty(t, free)
		require.Equal(t, []byte{3}, c.body)
	}
}

// What the broker answered before it ended counts.
func TestAnswerBeforeTheEnd(t *testing.T) {
	for range 50 {
		s, conn, bell, _ := belled(t)
		c := newCall()
		done := rung(context.Background(), s, c)
		id := next(t, bell).ID
		require.NoError(t, bell.Send(wire.Frame{Kind: wire.KindEvaluate | wire.Reply, ID: id}))
		require.NoError(t, conn.Close())
		require.NoError(t, <-done)
		require.Equal(t, wire.KindEvaluate|wire.Reply, c.kind)
	}
}

// A session can be closed while no answer comes to what was given up.
func TestGivenUpWhileItEnds(t *testing.T) {
	for range 50 {
		s, conn, bell, _ := belled(t)
		c := newCall()
		ctx, cancel := context.WithCancel(context.Background())
		done := rung(ctx, s, c)
		next(t, bell)
		go func() { _ = conn.Close() }()
		cancel()
		err := <-done
		late := make(chan struct{}, 1)
		switch {
		case !isInFlight(err):
			require.True(t, gone(err), "%v", err)
		case s.orphan(c, func(*call) { late <- struct{}{} }):
			<-late
			require.True(t, gone(c.err), "%v", c.err)
		default:
			<-c.done
			require.True(t, gone(c.err))
		}
		s.close(errGone, 0)
		<-s.buried
	}
}

// A run whose broker was left in the middle of it is not over before the broker is.
func TestRunOutlivesItsSession(t *testing.T) {
	for _, patient := range []bool{true, false} {
		r := newRig(t, Options{}, endless())
		s := r.session(t)
		pid := s.proc.cmd.Process.Pid
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
		await.Until(t, "the session is over", s.over.Load)
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
		s, _, bell, mem := belled(t)
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
			c := newCall()
			err := <-rung(ctx, s, c)
			if err == nil {
				require.Equal(t, wire.BellID|s.bell.serial, c.id)
				if i < 100 {
					continue
				}
			}
			switch {
			case isInFlight(err):
				ends["out"]++
				late := make(chan struct{})
				if s.orphan(c, func(*call) { close(late) }) {
					s.close(errGone, 0)
					<-late
				}
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
	s, err := r.engine.(*engine).session(t.Context())
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
		require.NoError(t, s.ask(t.Context(), wire.KindPing, &wire.Empty{}, &wire.Empty{}, nil))
		var stats wire.Stats
		require.NoError(t, s.ask(t.Context(), wire.KindStats, &wire.Empty{}, &stats, nil))
		require.Contains(t, stats.Counters, wire.Counter{Name: "evaluations", Value: uint64(i + 1)})
		out := make([]float32, r.out.Layout().Elements())
		_, err := r.out.ReadFloat32(out)
		require.NoError(t, err)
		require.Equal(t, -n, out[0])
	}
}
