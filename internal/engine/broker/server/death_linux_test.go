//go:build !macrules

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
)

// TestBrokerEndsAtEveryStage ends Serve by its context while clients are busy.
func TestBrokerEndsAtEveryStage(t *testing.T) {
	m := model(t, "identity")
	for stage := range 4 {
		path := socket(t)
		l, err := shared.Listen(path)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- Serve(ctx, l, Config{Engine: doors(nil)}) }()
		if stage > 0 {
			p := dial(t, path)
			if stage > 1 {
				r, err := p.ready(m, 21)
				require.NoError(t, err)
				if stage > 2 {
					_, err = p.post(wire.KindEvaluate, &wire.Evaluate{Request: r.request, Sequence: 1})
					require.NoError(t, err)
				}
			}
			cancel()
			gone(t, p)
		}
		cancel()
		require.NoError(t, <-done)
		_, err = os.Lstat(path)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// TestLinger has clients come and go, on a clock of its own: a broker ends when it had no
// client for as long as it lingers, and not before.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const linger = 2 * time.Second
		begin := time.Now()
		s, err := newServer(Config{Linger: linger}.settled(admission.OwnerPolicy()))
		require.NoError(t, err)
		over, end := context.WithCancel(t.Context())
		s.linger(end)
		stays := func(d time.Duration) {
			t.Helper()
			select {
			case <-over.Done():
				t.Fatalf("over after %v", time.Since(begin))
			case <-time.After(d):
			}
		}
		come := func() *session {
			here, there := wiretest.Pair(t)
			t.Cleanup(func() { require.NoError(t, errors.Join(here.Close(), there.Close())) })
			one := newSession(s, there, alice, admission.Process{})
			s.enter(one)
			return one
		}
		greet := func() *session {
			one := come()
			require.NoError(t, s.place(one))
			return one
		}
		stays(linger - 1) // before the first
		for range 3 {
			one := greet()
			stays(10 * linger)
			other := greet()
			s.leave(one)
			stays(10 * linger)
			s.leave(other)
			stays(linger / 2)
			asking := come() // one that asks for statistics and has no place
			stays(linger/2 - 1)
			s.leave(asking)
		}
		left := time.Now()
		<-over.Done()
		require.EqualValues(t, 1, time.Since(left))
		require.NoError(t, s.close())
	})
}

// TestLingerOfServe: it ends by itself when there is no client, before the first or after
// the last, and with its context alone when it stays.
func TestLingerOfServe(t *testing.T) {
	path := socket(t)
	l, err := shared.Listen(path)
	require.NoError(t, err)
	require.NoError(t, Serve(context.Background(), l, Config{Linger: time.Millisecond}), "no client ever came")
	_, err = os.Lstat(path)
	require.ErrorIs(t, err, os.ErrNotExist)

	l, err = shared.Listen(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, Config{Linger: time.Millisecond, Stay: true}) }()
	for range 3 { // it serves after the last has gone
		p := dial(t, path)
		require.NoError(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
		p.close()
	}
	cancel()
	require.NoError(t, await.Value(t, done))
}

// TestServeConn is the private form: a process that is its own client.
func TestServeConn(t *testing.T) {
	for _, byClient := range []bool{true, false} {
		here, there := wiretest.Pair(t)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- ServeConn(ctx, there, Config{}) }()
		p := newPeer(here)
		require.NoError(t, p.greet(""))
		require.Equal(t, "restricted", p.hello.Tier)
		r, err := p.ready(model(t, "add"), 21)
		require.NoError(t, err)
		require.NoError(t, p.evaluate(r, 0))
		if byClient {
			p.close()
		} else {
			cancel()
			gone(t, p)
		}
		require.NoError(t, <-done)
		cancel()
		p.close()
	}
	here, there := wiretest.Pair(t)
	require.NoError(t, here.Close())
	require.NoError(t, ServeConn(context.Background(), there, Config{}))
	here, there = wiretest.Pair(t)
	defer here.Close()
	require.ErrorIs(t, ServeConn(context.Background(), there, Config{Engine: func() ane.Engine { return nil }}),
		ane.ErrUnavailable)
}

// arrive connects and says hello, at once or when the broker has noticed that clients before have gone.
func arrive(path string) (p *peer, err error) {
	await.Poll(func() bool {
		var conn *wire.Conn
		if conn, err = wiretest.Dial(path); err != nil {
			return !errors.Is(err, syscall.EAGAIN)
		}
		p = newPeer(conn)
		if err = p.greet(""); err != nil {
			p.close()
		}
		return !errors.Is(err, ane.ErrExhausted)
	})
	return p, err
}

// TestManyComeAndGo connects over the socket at once, again and again.
func TestManyComeAndGo(t *testing.T) {
	path := listen(t, Config{Stay: true})
	m := model(t, "identity")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 10 {
				p, err := arrive(path)
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					var r *run
					if r, err = p.ready(m, 21); err == nil {
						err = p.evaluate(r, 0)
					}
				}
				if err != nil {
					t.Error(err)
				}
				p.close()
			}
		})
	}
	all.Wait()
}

func init() {
	child["few files"] = func() int {
		if err := starve(); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println("served")
		return 0
	}
}

// starve fills a broker's table of descriptors and has it serve on.
func starve() error {
	dir, err := os.MkdirTemp("", "few")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := shared.Listen(dir + "/b/s")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, Config{Stay: true}) }()
	defer func() { cancel(); <-done }()
	conn, err := wiretest.Dial(dir + "/b/s")
	if err != nil {
		return err
	}
	p := newPeer(conn)
	defer p.close()
	if err := p.greet(""); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 60, Max: 60}); err != nil {
		return err
	}
	// The client is in the same process, so that it runs out as well.
	failed := 0
	for range 100 {
		_, _, err := p.surface(4096)
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		return fmt.Errorf("100 surfaces with 60 descriptors")
	}
	for range 10 { // connections that cannot be accepted
		if c, err := wiretest.Dial(dir + "/b/s"); err == nil {
			_ = c.Close()
		}
	}
	for i := range p.token {
		_ = p.ask(wire.KindDrop, &wire.Drop{Token: i + 1}, &wire.Empty{}) // some were never registered
	}
	for _, b := range p.blocks {
		_ = b.Close()
	}
	p.blocks = nil
	if err := p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}); err != nil {
		return err
	}
	again, err := wiretest.Dial(dir + "/b/s")
	if err != nil {
		return err
	}
	q := newPeer(again)
	defer q.close()
	if err := q.greet(""); err != nil {
		return err
	}
	_, _, err = q.surface(4096)
	return err
}

func TestDescriptorsRunOut(t *testing.T) {
	require.Contains(t, inChild(t, "few files"), "served")
}
