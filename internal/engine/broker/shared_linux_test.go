//go:build !macrules

package broker

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/enginetest"
)

// serve runs a shared broker in this process until the test ends.
func serve(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "anekit", "broker.sock")
	l, err := shared.Listen(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, server.Config{Stay: true}) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return path
}

// A broker is found wherever one can listen.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 200))
	l, err := shared.Listen(filepath.Join(dir, "s"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, server.Config{Stay: true}) }()
	e, err := Open(t.Context(), Options{Path: l.Path()})
	require.NoError(t, err)
	require.NoError(t, life(t.Context(), e))
	require.NoError(t, e.Close())
	cancel()
	require.NoError(t, <-done)
	_, err = Open(t.Context(), Options{Path: l.Path()})
	require.ErrorContains(t, err, "no broker listens there")
	require.NoError(t, os.Remove(dir))
	_, err = Open(t.Context(), Options{Path: l.Path()})
	require.ErrorContains(t, err, "no broker listens there")
}

func TestConformanceShared(t *testing.T) {
	conform(t, Options{Path: serve(t)},
		enginetest.Without("the broker's Blocks and goroutines are of this process too", "leaks", "reload"))
}

// Two engines of one broker do not know of each other.
func TestSharedByTwo(t *testing.T) {
	path := serve(t)
	a, b := newRig(t, Options{Path: path}, negation()), newRig(t, Options{Path: path}, negation())
	for i := range 10 {
		a.negates(t, float32(i))
		b.negates(t, float32(-i))
	}
}

func TestNobodyListens(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"nothing there": func(string) error { return nil },
		"a file":        func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a dead socket": func(path string) error {
			l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		},
		"a socket of another type": func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			require.NoError(t, prepare(path))
			_, err := Open(t.Context(), Options{Path: path})
			require.ErrorIs(t, err, ane.ErrUnavailable)
			require.ErrorContains(t, err, path)
			var e *ane.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Hint)
		})
	}
	_, err := Open(t.Context(), Options{Path: "/" + strings.Repeat("x", 200)})
	require.ErrorIs(t, err, ane.ErrUnavailable, "a path that is too long")
}

// What another program answers is told with one hint, that of Open.
func TestOpenFindsAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	defer l.Close()
	answers := [][]byte{nil, []byte("220 mail.example.org ESMTP\r\n")}
	served := make(chan error, 1)
	go func() {
		var all error
		for _, b := range answers {
			c, err := l.Accept()
			if err == nil && b != nil {
				_, err = c.Write(b)
			}
			if c != nil {
				err = errors.Join(err, c.Close())
			}
			all = errors.Join(all, err)
		}
		served <- all
	}()
	for range answers {
		_, err := Open(t.Context(), Options{Path: path})
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, "; end the process that listens there")
		require.NotContains(t, err.Error(), "connect again")
	}
	require.NoError(t, await.Value(t, served))
}

// A listener that never accepts is a broker that is frozen.
func TestOpenGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	require.NoError(t, err)
	defer l.Close()
	_, err = Open(t.Context(), Options{Path: path, Patience: 30 * time.Millisecond})
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.NotErrorIs(t, err, ane.ErrDeadline, "the caller's context has not ended")
	require.ErrorContains(t, err, "no answer from the broker within 30ms, it may be frozen; end the process that listens")
	require.ErrorContains(t, err, path)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, Options{Path: path})
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	cancel()
	_, err = Open(ctx, Options{Path: path})
	require.ErrorIs(t, err, ane.ErrDeadline)
}

func TestHelloFates(t *testing.T) {
	f := newFake(t)
	for name, what := range map[string]fate{"dies": die, "babbles": babble, "answers something else": other,
		"answers another": stray} {
		f.on(wire.KindHello, what)
		_, err := Open(t.Context(), Options{Path: f.path})
		require.ErrorIs(t, err, ane.ErrUnavailable, name)
	}
	f.on(wire.KindHello, refuse)
	_, err := Open(t.Context(), Options{Path: f.path})
	require.ErrorIs(t, err, ane.ErrExhausted)
	f.on(0, work)
	f.mu.Lock()
	f.hello = func(h *wire.HelloReply) { h.Version = 7 }
	f.mu.Unlock()
	_, err = Open(t.Context(), Options{Path: f.path})
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, "version 7")
}

// While no broker listens, calls fail at once with why, and are not a storm of attempts;
// the engine works again when one does, unless it is another broker.
func TestBrokerComesBack(t *testing.T) {
	f := newFake(t)
	e, err := Open(t.Context(), Options{Path: f.path})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.NoError(t, life(t.Context(), e))

	moved := f.path + ".moved"
	require.NoError(t, os.Rename(f.path, moved))
	f.cut()
	await.Until(t, "the engine notices", func() bool {
		_, err := e.Compile(t.Context(), negation())
		return err != nil
	})
	for range 1000 {
		_, err := e.Compile(t.Context(), negation())
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, "no broker listens there")
	}
	require.NoError(t, os.Rename(moved, f.path))
	await.Until(t, "the engine works again", func() bool { return life(t.Context(), e) == nil })

	f.mu.Lock()
	f.hello = func(h *wire.HelloReply) { h.Chip = "another" }
	f.mu.Unlock()
	f.cut()
	await.Until(t, "another broker is refused", func() bool {
		err = life(t.Context(), e)
		return err != nil && strings.Contains(err.Error(), "not the one from before")
	})
	require.ErrorIs(t, err, ane.ErrUnavailable)
}

func TestDefaultPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	require.Equal(t, "/run/user/7/anekit/broker.sock", DefaultPath())
	for _, bad := range []string{"", "relative"} {
		t.Setenv("XDG_RUNTIME_DIR", bad)
		require.Regexp(t, `^/tmp/anekit-\d+/broker.sock$`, DefaultPath())
	}
}
