package driver

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// TestUnprepareAgainstSends unprepares and prepares a program while others send to it. A
// request is refused or runs; the fake notes one that runs on what is closed.
func TestUnprepareAgainstSends(t *testing.T) {
	r := newRig(t)
	info := privileged
	info.Wake = func(Completion) {}
	c := r.opened(info)
	res := r.program()
	token, surfaces := r.prepared(c, res), r.pair(c)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				c.driver.mu.Lock()
				next := c.next
				c.driver.mu.Unlock()
				ask{token: token, sequence: next, port: uint64(g), surfaces: surfaces,
					submit: Submit{Flags: RunInline}}.send(c)
			}
		}()
	}
	for range 3000 {
		switch ret := Code(unprepare1(c, token)); ret {
		case ok:
			if _, ret := prepare1(c, res); ret != nil {
				t.Errorf("prepare: %v", ret)
			}
		case driverabi.Busy:
		default:
			t.Errorf("unprepare: %v", ret)
		}
	}
	close(stop)
	wg.Wait()
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestUnpreparingTakesNoRequests stands between the two steps of unprepare: the program
// is no longer prepared, and its bindings are not closed yet.
func TestUnpreparingTakesNoRequests(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	x := ask{token: r.prepared(c, r.program()), surfaces: r.pair(c)}
	_, ret := x.send(c)
	require.NoError(t, ret)
	own := c.tokens[x.token]
	r.driver.mu.Lock()
	own.state = isUnprepared
	r.driver.mu.Unlock()
	x.sequence = 1
	_, ret = x.send(c)
	require.ErrorIs(t, ret, driverabi.NotReady)
	require.NoError(t, c.unload(own))
}
