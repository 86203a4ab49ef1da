//go:build !macrules

package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/step"
)

// moment is when a request's end comes. A packet of the socket is there whole or not at all.
type moment int

const (
	before   moment = iota // the broker has not got the request
	sent                   // it has, and may answer
	answered               // it has answered, and the client has not got the answer
	moments
)

var momentNames = [moments]string{"before", "sent", "answered"}

// asked are the requests of everything, all that a client makes.
var asked = []wire.Kind{wire.KindHello, wire.KindCompile, wire.KindInstance, wire.KindLoad, wire.KindSurface,
	wire.KindBind, wire.KindEvaluate, wire.KindChain, wire.KindStats, wire.KindCancel, wire.KindPurge, wire.KindUnbind,
	wire.KindDrop, wire.KindUnload, wire.KindRelease}

// everything is what a client does that makes each kind of request. try is what a step is given to, which may fail if a
// broker dies. What it wrote into Blocks is there at the end, whatever happened.
func everything(t *step.T, path string, try func(what string, f func() error)) {
	var d *ane.Device
	try("open", func() error {
		e, err := Open(t.Ctx, Options{Path: path})
		if err == nil {
			d, err = ane.Open(e, "")
		}
		return err
	})
	t.Closing(d.Close)
	var base, m, slow *ane.Model
	compile := func(to **ane.Model, f func() (*ane.Model, error)) {
		try("compile", func() (err error) { *to, err = f(); return err })
		t.Later((*to).Close)
	}
	two, three := scaled(2), scaled(3)
	compile(&base, func() (*ane.Model, error) {
		return d.Compile(t.Ctx, ane.Source{Program: two.Program, Weights: two.Weights})
	})
	compile(&m, func() (*ane.Model, error) { return base.WithWeights(t.Ctx, three.Weights) })
	compile(&slow, func() (*ane.Model, error) { return d.Compile(t.Ctx, endless()) })
	request := func(m *ane.Model) (r *ane.Request) {
		try("bind", func() (err error) { r, err = m.NewRequest(t.Ctx); return err })
		t.Closing(r.Close)
		return r
	}
	r, long := request(m), request(slow)
	step.NoError(r.Input("x").Set(5, 0, 0, 0, 31))
	check := func() {
		x, y := step.Must(r.Input("x").At(0, 0, 0, 31)), step.Must(r.Output("y").At(0, 0, 0, 31))
		if x != 5 || y != 15 {
			step.NoError(fmt.Errorf("3 times %v is %v", x, y))
		}
	}
	try("evaluate", func() error { _, err := r.Evaluate(t.Ctx); return err })
	check()
	step.NoError(r.Output("y").Set(0, 0, 0, 0, 31))
	cancelled := func(what string, f func(ctx context.Context) error) {
		try(what, func() error {
			ctx, cancel := context.WithCancel(t.Ctx)
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- f(ctx) }()
			var failed error
			for running := false; !running && failed == nil && len(done) == 0; {
				var all map[string]uint64
				all, failed = d.Counters(t.Ctx)
				running = all["requests running"] == 1
			}
			cancel()
			if err := <-done; failed == nil && !errors.Is(err, context.Canceled) {
				return err
			}
			return failed
		})
	}
	cancelled("endless chain", func(ctx context.Context) error { _, err := d.EvaluateChain(ctx, long, long); return err })
	cancelled("endless run", func(ctx context.Context) error { _, err := long.Evaluate(ctx); return err })
	try("chain", func() error { _, err := d.EvaluateChain(t.Ctx, r, r); return err })
	check()
	try("purge", func() error { _, _, err := d.Purge(t.Ctx); return err })
	check()
}

// scaled multiplies by a weight.
func scaled(by float32) *build.Program {
	b := build.New()
	f := b.Func("main")
	f.Output("y", f.Conv(f.Input("x", mil.FP16, 1, 1, 1, 32), f.Weight("w", []float32{by}, 1, 1, 1, 1)))
	return step.Must(b.Program())
}

// certain is a try where nothing dies.
func certain(_ string, f func() error) { step.NoError(f()) }

// relay is a socket between clients and a broker: it passes frames on, and strikes at the moment of a request, once.
type relay struct {
	path, broker string
	strike       func()

	mu     sync.Mutex
	kind   wire.Kind
	moment moment
	ended  bool // the strike was made
}

func newRelay(t *testing.T, broker string) *relay {
	r := &relay{path: filepath.Join(t.TempDir(), "relay"), broker: broker}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: r.path, Net: "unixpacket"})
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			u, err := l.AcceptUnix()
			if err != nil {
				return
			}
			all.Go(func() { r.pass(u) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		all.Wait()
	})
	return r
}

// arm has the relay call strike at a moment of the next request of a kind.
func (r *relay) arm(k wire.Kind, m moment, strike func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kind, r.moment, r.strike, r.ended = k, m, strike, false
}

// struck reports whether the strike was made.
func (r *relay) struck() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// hit strikes if that is what this frame is waiting for.
func (r *relay) hit(k wire.Kind, m moment) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || k != r.kind || m != r.moment {
		return false
	}
	r.ended = true
	r.strike()
	return true
}

// pass relays one connection until either end has gone, or a strike. No bell goes through: its frames would pass by.
func (r *relay) pass(u *net.UnixConn) {
	client, err := wire.FromUnix(u)
	if err != nil {
		return
	}
	r.struck() // not amid a strike, which replaces the broker
	broker, err := wiretest.Dial(r.broker)
	if err != nil {
		_ = client.Close()
		return
	}
	var asked sync.Map // the kinds of requests that are not answered, by the frame's number
	var both sync.WaitGroup
	one := func(from, to *wire.Conn, back bool) {
		defer func() { _, _ = from.Close(), to.Close() }()
		buf := make([]byte, wire.MaxFrame)
		for {
			f, fds, err := from.Receive(buf)
			if err != nil {
				return
			}
			kind := f.Kind
			if k, ok := asked.Load(f.ID); back && ok {
				kind = k.(wire.Kind)
			}
			if back && r.hit(kind, answered) || !back && r.hit(kind, before) {
				fds.Close()
				return
			}
			asked.Store(f.ID, f.Kind)
			if f.Kind == wire.KindHello {
				fds.Close()
				fds = nil
			}
			err = to.Send(f, fds...)
			fds.Close()
			if err != nil || !back && r.hit(kind, sent) {
				return
			}
		}
	}
	both.Go(func() { one(client, broker, false) })
	both.Go(func() { one(broker, client, true) })
	both.Wait()
}

// killings calls f for each kind of request, and with little effort one moment of it, else all.
func killings(f func(k wire.Kind, m moment)) {
	for i, k := range asked {
		for m := range moments {
			if effort.Full() || int(m) == i%int(moments) {
				f(k, m)
			}
		}
	}
}

// mapped counts the memory of Blocks, uploads and bells that a process has mapped, and its descriptors.
func mapped(t testing.TB, pid int) (all int) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	require.NoError(t, err)
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	require.NoError(t, err)
	for _, e := range entries {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, e.Name()))
		if err == nil && !strings.HasPrefix(to, "anon_inode:") {
			all++
		}
	}
	return all + strings.Count(string(maps), "memfd:")
}

// TestBrokerKilledAtEveryStage: whichever request a broker is killed at, the call works at the next broker or tells
// that the broker was lost and works when it is made again, Blocks keep their bytes, and nothing is left open.
func TestBrokerKilledAtEveryStage(t *testing.T) {
	leaktest.SkipEmulated(t)
	path := filepath.Join(t.TempDir(), "anekit", "s")
	broker := joinCrowd(t, "broker", path)
	defer func() { broker.leave(t) }()
	r := newRelay(t, path)
	replace := func(signals ...syscall.Signal) func() {
		return func() {
			for _, s := range signals {
				_ = broker.Process.Signal(s)
			}
			_ = broker.Wait() // killed
			broker = joinCrowd(t, "broker", path)
		}
	}
	live := func(name string) {
		var lost []string
		err := step.Run(t.Context(), func(s *step.T) {
			everything(s, r.path, func(what string, f func() error) {
				err := f()
				if err != nil && (errors.Is(err, ane.ErrLost) || errors.Is(err, ane.ErrUnavailable)) {
					lost = append(lost, what)
					err = f()
				}
				step.NoError(err)
			})
		})
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(lost), 1, "%s: %s", name, lost)
		require.True(t, r.struck(), name)
	}
	r.arm(0, 0, nil)
	require.NoError(t, step.Run(t.Context(), func(s *step.T) { everything(s, r.path, certain) }))
	was, goroutines := mapped(t, os.Getpid()), runtime.NumGoroutine()
	killings(func(k wire.Kind, m moment) {
		name := k.String() + " " + momentNames[m]
		r.arm(k, m, replace(unix.SIGKILL))
		live(name)
		await.Until(t, name+" leaves nothing", func() bool {
			return mapped(t, os.Getpid()) <= was && runtime.NumGoroutine() <= goroutines
		})
	})
	r.arm(wire.KindCancel, before, replace(unix.SIGTERM, unix.SIGKILL))
	live("in the drain")
}

// TestClientKilledAtEveryStage: whichever request a client is killed at, the broker keeps nothing of it and serves the
// next.
func TestClientKilledAtEveryStage(t *testing.T) {
	leaktest.SkipEmulated(t)
	path := filepath.Join(t.TempDir(), "anekit", "s")
	broker := joinCrowd(t, "broker", path)
	defer func() { broker.leave(t) }()
	r := newRelay(t, path)
	next := func() {
		require.NoError(t, step.Run(t.Context(), func(s *step.T) { everything(s, path, certain) }))
	}
	next()
	watch, err := Open(t.Context(), Options{Path: path})
	require.NoError(t, err)
	defer watch.Close()
	was := mapped(t, broker.Process.Pid)
	killings(func(k wire.Kind, m moment) {
		name := k.String() + " " + momentNames[m]
		victim := joinCrowd(t, "everything", r.path)
		r.arm(k, m, func() { _ = victim.Process.Kill() })
		_, err := victim.in.Write([]byte("go\n"))
		require.NoError(t, err)
		require.Error(t, victim.Wait(), "%s: killed", name)
		require.True(t, r.struck(), name)
		await.Until(t, name+" leaves nothing", func() bool {
			all, err := watch.(ane.Keeper).Counters(t.Context())
			return err == nil && all["clients"] == 1 && !slices.ContainsFunc([]string{"requests running",
				"requests waiting", "surfaces mapped", "programs in memory", "programs loaded"},
				func(what string) bool { return all[what] != 0 }) && mapped(t, broker.Process.Pid) <= was
		})
		next()
	})
}
