//go:build !macrules

package broker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// lives reports whether a process runs; one that ended and waits to be reaped does not.
func lives(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// ends waits until a child has ended and is reaped, and so its socket closed.
func ends(t *testing.T, pid int) {
	t.Helper()
	await.Until(t, "the process is reaped", func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
}

// runs waits until the broker of a session has a request in its engine.
func runs(t *testing.T, s *link) {
	t.Helper()
	await.Until(t, "a request runs", func() bool {
		var stats wire.Stats
		require.NoError(t, s.ask(wire.KindStats, &wire.Empty{}, &stats))
		return slices.Contains(stats.Counters, wire.Counter{Name: "requests running", Value: 1})
	})
}

func signal(t *testing.T, pid int, s unix.Signal) {
	t.Helper()
	require.NoError(t, unix.Kill(pid, s))
}

// impatient changes the patience of an engine that no caller uses at the moment.
func impatient(e ane.Engine, patience time.Duration) { e.(*engine).options.Patience = patience }

func TestKilledWhileIdle(t *testing.T) {
	r := newRig(t, Options{}, negation())
	for i := range 5 {
		r.negates(t, float32(i))
		pid := r.pid(t)
		signal(t, pid, unix.SIGKILL)
		ends(t, pid)
		r.negates(t, float32(i+1)) // bound again, on the same memory
		require.NotEqual(t, pid, r.pid(t))
	}
	require.Equal(t, 6, starts(r.engine))
}

func TestKilledInEvaluate(t *testing.T) {
	r := newRig(t, Options{}, endless())
	s := r.link(t)
	done := make(chan error, 1)
	go func() { done <- r.run(context.Background()) }()
	runs(t, s)
	signal(t, s.child.cmd.Process.Pid, unix.SIGKILL)
	require.ErrorIs(t, await.Value(t, done), ane.ErrLost)
}

// However the moment falls, a call either works or tells that the broker was lost,
// and the next engine call works.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := effort.Rounds(40, 4)
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	lost := 0
	for i := range rounds {
		s, err := e.(*engine).link(t.Context())
		require.NoError(t, err)
		pid := s.child.cmd.Process.Pid
		time.AfterFunc(time.Duration(i)*300*time.Microsecond, func() { _ = unix.Kill(pid, unix.SIGKILL) })
		for !s.over.Load() {
			if err := life(t.Context(), e); err != nil {
				require.ErrorIs(t, err, ane.ErrLost)
				lost++
			}
		}
		ends(t, pid)
	}
	t.Logf("%d of %d kills hit a call", lost, rounds)
	require.NoError(t, life(t.Context(), e))
	require.NoError(t, e.Close())
}

// 64 goroutines lose a broker again and again; each loss is made good once.
func TestKilledUnderStorm(t *testing.T) {
	const goroutines, kills = 64, 5
	r := newRig(t, Options{}, negation())
	rigs := []*rig{r}
	for range goroutines - 1 {
		q := *r
		q.in, q.out = memory(t, r.in.Layout()), memory(t, r.out.Layout())
		var err error
		q.request, err = q.bind(q.in, q.out)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, q.request.Close()) })
		rigs = append(rigs, &q)
	}
	var stop atomic.Bool
	var good, bad atomic.Int64
	var wg sync.WaitGroup
	for i, q := range rigs {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
				err := q.negate(ctx, float32(i+n%1000))
				cancel()
				if err == nil {
					good.Add(1)
				} else if bad.Add(1); !errors.Is(err, ane.ErrLost) {
					t.Error(err)
					return
				}
			}
		})
	}
	for range kills {
		before := good.Load()
		await.Until(t, "every goroutine goes on", func() bool { return good.Load() > before+goroutines })
		pid := r.pid(t)
		signal(t, pid, unix.SIGKILL)
		ends(t, pid)
	}
	before := good.Load()
	await.Until(t, "every goroutine goes on", func() bool { return good.Load() > before+goroutines })
	stop.Store(true)
	wg.Wait()
	require.Equal(t, 1+kills, starts(r.engine))
	t.Logf("%d runs, %d lost", good.Load(), bad.Load())
}

func TestFrozen(t *testing.T) {
	r := newRig(t, Options{}, negation())
	pid := r.pid(t)
	r.negates(t, 1)
	defer func() { _ = unix.Kill(pid, unix.SIGCONT) }() // or nothing could be closed after a failure
	for range 3 {
		signal(t, pid, unix.SIGSTOP)
		frozen(t, pid)
		for range 3 { // the second waits for the first, which is still out
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			err := r.run(ctx)
			cancel()
			require.ErrorIs(t, err, ane.ErrDeadline)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		impatient(r.engine, 30*time.Millisecond)
		_, err := r.bind(r.in, r.out)
		impatient(r.engine, DefaultPatience)
		require.ErrorIs(t, err, ane.ErrDeadline)
		signal(t, pid, unix.SIGCONT)
		r.negates(t, 2)
	}
	require.Equal(t, pid, r.pid(t))
}

// Close of a request waits for its run that was given up: then its Blocks are free, and the program can be unloaded.
func TestCloseWaitsForCanceledRuns(t *testing.T) {
	r := newRig(t, Options{}, endless())
	for range 5 {
		in, out := memory(t, r.in.Layout()), memory(t, r.out.Layout())
		q, err := r.bind(in, out)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := q.EvaluateAsync(ctx)
		runs(t, r.link(t))
		cancel()
		require.ErrorIs(t, await.Value(t, done).Err, ane.ErrDeadline)
		require.NoError(t, q.Close())
		require.NoError(t, in.Block().Close())
		require.NoError(t, out.Block().Close())
		require.NoError(t, r.model.Unload(t.Context()))
		require.NoError(t, r.model.Load(t.Context()))
	}
}

// What a run that was given up holds is given back when the broker says that it has
// stopped.
func TestCancelHoldsBlocks(t *testing.T) {
	r := newRig(t, Options{}, endless())
	in, out := memory(t, r.in.Layout()), memory(t, r.out.Layout())
	q, err := r.bind(in, out)
	require.NoError(t, err)
	s := r.link(t)
	pid := s.child.cmd.Process.Pid
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.model.Evaluate(ctx, q)
		done <- err
	}()
	runs(t, s)
	signal(t, pid, unix.SIGSTOP) // so that it cannot answer at once
	frozen(t, pid)
	defer func() { _ = unix.Kill(pid, unix.SIGCONT) }()
	cancel()
	err = await.Value(t, done)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.Canceled)
	impatient(r.engine, 30*time.Millisecond)
	require.NoError(t, q.Close())
	impatient(r.engine, DefaultPatience)
	require.ErrorIs(t, in.Block().Close(), unimem.ErrInUse)
	signal(t, pid, unix.SIGCONT)
	for _, x := range []*ane.Tensor{in, out} {
		await.Until(t, "the Block is free", func() bool { return x.Block().Close() == nil })
	}
}

// The Engine's Close ends a broker that is frozen, and what was out.
func TestCloseFrozen(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	impatient(e, 50*time.Millisecond)
	s, err := e.(*engine).link(t.Context())
	require.NoError(t, err)
	signal(t, s.child.cmd.Process.Pid, unix.SIGSTOP)
	require.NoError(t, await.Done(t, e.Close))
	require.False(t, lives(s.child.cmd.Process.Pid))
}

// Everything may be closed in any order.
func TestCloseUnderneath(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	x, err := e.Compile(t.Context(), negation())
	require.NoError(t, err)
	require.NoError(t, x.Load(t.Context()))
	in, out := memory(t, x.Inputs()[0]), memory(t, x.Outputs()[0])
	v, err := x.Prepare([]*ane.Tensor{in}, []*ane.Tensor{out})
	require.NoError(t, err)
	require.NoError(t, v.Evaluate(t.Context()))
	for range 2 {
		require.NoError(t, e.Close())
	}
	require.ErrorIs(t, v.Evaluate(t.Context()), ane.ErrClosed)
	_, err = x.Prepare([]*ane.Tensor{in}, []*ane.Tensor{out})
	require.ErrorIs(t, err, ane.ErrClosed)
	require.ErrorIs(t, x.Load(t.Context()), ane.ErrClosed)
	require.NoError(t, x.Unload(t.Context()))
	_, err = e.Compile(t.Context(), negation())
	require.ErrorIs(t, err, ane.ErrClosed)
	for range 2 {
		require.NoError(t, x.Close())
		require.NoError(t, v.Close())
	}
	require.ErrorIs(t, v.Evaluate(t.Context()), ane.ErrClosed)
}

// Descriptors, processes and goroutines stay as many over many lives.
func TestManyLives(t *testing.T) {
	cycles := effort.Rounds(1000, 15)
	if effort.Race { // under which a process takes a quarter of a second to start
		cycles = min(cycles, 50)
	}
	before, routines := math.MaxInt, math.MaxInt
	for i := range cycles {
		e, err := Open(t.Context(), Options{})
		require.NoError(t, err)
		if i%10 == 0 {
			require.NoError(t, life(t.Context(), e))
		}
		require.NoError(t, e.Close())
		if i < 10 {
			before, routines = min(before, len(names("/proc/self/fd"))), min(routines, runtime.NumGoroutine())
		}
	}
	const slack = 2 // what the runtime opens and starts later on
	await.Until(t, "descriptors and goroutines are as many as in the beginning", func() bool {
		return len(names("/proc/self/fd")) <= before+slack && runtime.NumGoroutine() <= routines+slack
	})
	require.Empty(t, children())
}

// A broker ends with its client, however that ends.
func TestEndsWithClient(t *testing.T) {
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), clientVariable+"=1")
	pipe, err := c.StdoutPipe()
	require.NoError(t, err)
	_, err = c.StdinPipe() // whose end is the end of a client that outlives the test
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(pipe).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.True(t, lives(pid))
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	await.Until(t, "the broker has ended", func() bool { return !lives(pid) })
}

// The broker has none of its client's descriptors, and no terminal.
func TestBrokerHasLittle(t *testing.T) {
	plain, err := unix.Dup(1) // without the mark to close it
	require.NoError(t, err)
	defer unix.Close(plain)
	r := newRig(t, Options{}, negation())
	pid := r.pid(t)
	dir := fmt.Sprintf("/proc/%d/", pid)
	for _, fd := range names(dir + "fd") {
		to, err := os.Readlink(dir + "fd/" + fd)
		if err != nil {
			continue // closed during the call
		}
		switch n, _ := strconv.Atoi(fd); {
		case n <= 1:
			require.Equal(t, "/dev/null", to)
		case n > 2:
			require.Regexp(t, `^(socket:|anon_inode:|/memfd:|/sys/)`, to)
		}
	}
	cmdline, err := os.ReadFile(dir + "cmdline")
	require.NoError(t, err)
	require.Equal(t, "anekit-broker\x00", string(cmdline))
	sid, err := unix.Getsid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, sid)
}

// The variable by which a broker knows that it is one does nothing by itself.
func TestNotABroker(t *testing.T) {
	for _, v := range []string{"0", "4", "x", ""} {
		c := exec.Command("/proc/self/exe", "-test.run=^$")
		c.Env = append(os.Environ(), ChildVariable+"="+v)
		out, err := c.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "unset it")
	}
}

// A start that takes too long is not waited for, and leaves nothing.
func TestStartIsGivenUp(t *testing.T) {
	tooLong := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(tooLong)
	before := len(open())
	_, _, err := startChild(ctx, Options{})
	require.ErrorIs(t, err, tooLong)
	await.Until(t, "a process that started all the same ends",
		func() bool { return len(children()) == 0 && len(open()) <= before })
}
