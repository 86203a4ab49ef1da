//go:build !macrules

package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
)

// fragile is the software engine, in whose named calls the test's function runs first.
type fragile struct {
	ane.Engine
	before func(op string)
}

type fragileExec struct {
	ane.Executable
	driver.Instancer
	before func(op string)
}

type fragileRun struct {
	ane.Invocation
	before func(op string)
}

func (f fragile) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	f.before("compile")
	x, err := f.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return fragileExec{x, x.(driver.Instancer), f.before}, nil
}

func (f fragile) Close() error { f.before("end"); return f.Engine.Close() }

func (x fragileExec) Load(ctx context.Context) error { x.before("load"); return x.Executable.Load(ctx) }

func (x fragileExec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	x.before("prepare")
	v, err := x.Executable.Prepare(in, out)
	return fragileRun{v, x.before}, err
}

func (x fragileExec) NewInstance(ctx context.Context, w ane.Weights) (ane.Executable, error) {
	x.before("instance")
	return x.Instancer.NewInstance(ctx, w)
}

func (r fragileRun) Evaluate(ctx context.Context) error {
	r.before("evaluate")
	return r.Invocation.Evaluate(ctx)
}

// lines collects what is logged.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// errFragile is a value whose text has an address, on two lines.
var errFragile = errors.New("index out of\nrange at 0xc000123456")

// readNothing reads a page that the kernel refuses, as that of a surface without memory.
func readNothing(t *testing.T) {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer unix.Munmap(page)
	touch(page)
}

// TestPanicEndsTheRequest: a panic of the engine in any of its calls is a typed error of the
// one request; the program runs no more, compiled again it does, and no other client notices.
func TestPanicEndsTheRequest(t *testing.T) {
	for _, c := range []struct {
		name, at string
		what     func()
		says     string
	}{
		{"compile", "compile", func() { panic(errFragile) }, "index out of range at 0x.."},
		{"load", "load", func() { panic("load") }, "panicked: load"},
		{"prepare", "prepare", func() { panic(7) }, "panicked: 7"},
		{"evaluate", "evaluate", func() { panic(errFragile) }, "index out of range"},
		{"instance", "instance", func() { panic("weights") }, "panicked: weights"},
		{"memory fault", "evaluate", func() { readNothing(t) }, "invalid memory address"},
		{"nil", "evaluate", func() { panic(nil) }, "nil argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var armed atomic.Bool
			log := &lines{}
			engine := fragile{soft.New(), func(op string) {
				if op == c.at && armed.Load() {
					c.what()
				}
			}}
			b := startBroker(t, Config{Engine: func() ane.Engine { return engine },
				Log: slog.New(slog.NewTextHandler(log, nil))})
			witness, p := b.join(mary, driverabi.Restricted), b.join(alice, driverabi.Restricted)
			m := model(t, "conv-1x1")
			other, err := witness.ready(m, 21)
			require.NoError(t, err)

			// run does what a client does until a call fails.
			run := func() (r *run, err error) {
				if r, err = p.ready(m, 21); err != nil {
					return r, err
				}
				if err := p.evaluate(r, 0); err != nil {
					return r, err
				}
				if c.at == "instance" {
					_, err = p.adapt(r.program, m.Weights, wire.Arguments{})
				}
				return r, err
			}
			armed.Store(true)
			r, err := run()
			var e *ane.Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, ane.ErrEngine)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "report it, with the stack")
			require.NotContains(t, err.Error(), "0xc000123456", "an address of the broker")
			require.EqualValues(t, 1, p.counter(t, "panics"))
			require.Equal(t, 1, strings.Count(log.String(), "stack="), "one stack: %s", log)

			armed.Store(false)
			if c.at == "evaluate" {
				err = p.evaluate(r, 0)
				require.ErrorIs(t, err, ane.ErrEngine)
				require.ErrorContains(t, err, "poisoned")
			}
			require.NoError(t, witness.evaluate(other, 0))
			_, err = run()
			require.NoError(t, err, "compiled again")
			require.EqualValues(t, 1, p.counter(t, "panics"))
			require.NoError(t, witness.evaluate(other, 0))
		})
	}
}

// TestPanicText is one line of bounded length, whatever the value does.
func TestPanicText(t *testing.T) {
	require.Equal(t, "a b", panicText("a\n\tb"))
	require.LessOrEqual(t, len(panicText(strings.Repeat("x", 10_000))), maxPanicText+2)
	require.Contains(t, panicText(rude{}), "rude")
}

type rude struct{}

func (rude) Error() string { panic("rude") }

// touch reads the first byte.
//
//go:noinline
func touch(b []byte) byte { return b[0] }
