//go:build !macrules

package server

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

// TestLingeringDescriptors: descriptors whose close waits keep none but the connections waiting that they came by.
func TestLingeringDescriptors(t *testing.T) {
	s, path := serves(t, Config{Stay: true, process: allowance{clients: 4}})
	sent := make(chan struct{})
	proceed := sync.OnceFunc(func() { close(sent) })
	t.Cleanup(proceed) // else the broker waits for ever if the test fails
	s.seen.mu.Lock()   // the broker serves
	s.seen.chunk = func(int64) { <-sent }
	s.seen.mu.Unlock()
	for range s.arrivals.most {
		p := quiet(t, path)
		for range 2 { // one that the broker closes, and one that it does not receive
			fd, far, err := wiretest.Lingering()
			require.NoError(t, err)
			t.Cleanup(func() { _ = far.Close() })
			_, err = p.post(wire.KindPing, &wire.Empty{}, fd)
			require.NoError(t, err)
			require.NoError(t, unix.Close(fd))
		}
	}
	proceed()
	eventually(t, "they are refused", func() bool { return s.counts.faults.Load() == uint64(s.arrivals.most) })
	for range s.arrivals.most {
		p := dial(t, path)
		require.Zero(t, p.counter(t, "requests running"))
		p.close()
		eventually(t, "its place is free", func() bool { return s.active.Load() == 0 })
	}
	s.mu.Lock() // the watch does not hold it while it closes connections
	ending := s.ending
	s.mu.Unlock()
	require.False(t, ending)
}
