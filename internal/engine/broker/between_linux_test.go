//go:build !macrules

package broker

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// A broker that dies between two calls is not noticed: what makes something is done
// by the next one, and what undoes something has nothing left to do.
func TestKilledBetweenCalls(t *testing.T) {
	e, err := Open(t.Context(), Options{})
	require.NoError(t, err)
	kills := 0
	kill := func() {
		var s *link
		require.NoError(t, retry(func() (err error) { // one that lives, if the last was not replaced yet
			if s, err = e.(*engine).link(t.Context()); err == nil {
				err = s.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{})
			}
			return err
		}))
		signal(t, s.child.cmd.Process.Pid, unix.SIGKILL)
		ends(t, s.child.cmd.Process.Pid)
		kills++
	}
	kill()
	x, err := e.Compile(t.Context(), negation())
	require.NoError(t, err)
	kill()
	require.NoError(t, x.Load(t.Context()))
	kill()
	require.NoError(t, x.Unload(t.Context()))
	require.NoError(t, x.Load(t.Context()))
	kill()
	in, out := memory(t, x.Inputs()[0]), memory(t, x.Outputs()[0])
	v, err := x.Prepare([]*ane.Tensor{in}, []*ane.Tensor{out})
	require.NoError(t, err)
	kill()
	require.NoError(t, v.Evaluate(t.Context()))
	pid, _, _ := v.(access.Peer).Peer()
	kill()
	require.NoError(t, v.Evaluate(t.Context()))
	now, _, _ := v.(access.Peer).Peer()
	require.NotEqual(t, pid, now)
	require.NoError(t, x.Unload(t.Context()))
	kill()
	require.ErrorIs(t, v.Evaluate(t.Context()), ane.ErrNotLoaded)
	require.NoError(t, x.Load(t.Context()))
	require.NoError(t, v.Evaluate(t.Context()))
	kill()
	require.NoError(t, v.Close())
	kill()
	require.NoError(t, x.Unload(t.Context()))
	kill()
	require.NoError(t, x.Close())
	kill()
	require.NoError(t, e.Close())
	require.Equal(t, kills, starts(e)) // each was killed once, and the last not replaced
}

// Brokers that die while they start are an error of Open, and leave nothing.
func TestKilledInOpen(t *testing.T) {
	rounds := effort.Rounds(30, 2)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; !stop.Load(); n++ {
			time.Sleep(time.Duration(n%20) * time.Millisecond)
			for _, c := range children() {
				pid, err := strconv.Atoi(strings.TrimPrefix(c, "process "))
				if err == nil {
					_ = unix.Kill(pid, unix.SIGKILL)
				}
			}
		}
	})
	failures := 0
	for range rounds {
		e, err := Open(t.Context(), Options{})
		if err != nil {
			require.ErrorIs(t, err, ane.ErrUnavailable)
			failures++
			continue
		}
		require.NoError(t, e.Close())
	}
	stop.Store(true)
	wg.Wait()
	require.Empty(t, children())
	t.Logf("%d of %d did not start", failures, rounds)
}
