package wasm_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/await"
)

// stuck is an engine whose first compile lasts until its context ends.
type stuck struct {
	ane.Engine
	once     sync.Once
	compiles chan struct{} // closed when the first one has begun
	release  chan struct{} // closed when it may end
}

func (e *stuck) Compile(ctx context.Context, src ane.Source) (x ane.Executable, err error) {
	first := false
	e.once.Do(func() { first = true })
	if !first {
		return e.Engine.Compile(ctx, src)
	}
	close(e.compiles)
	<-ctx.Done()
	<-e.release
	return nil, ane.Deadline("compile", "stuck", ctx.Err())
}

// A guest that shares a program with one whose time is over while it compiles gets the program.
func TestAnotherGuestsTimeEndsNoOpen(t *testing.T) {
	ctx := context.Background()
	s := &stuck{compiles: make(chan struct{}), release: make(chan struct{})}
	r := newRig(t, paths()[0], engine.Wrap(func(e ane.Engine) ane.Engine { s.Engine = e; return s }))
	first, second := r.start("calls.wasm", wasm.Limits{}), r.start("calls.wasm", wasm.Limits{})
	first.put("product")
	ptr, n := second.put("product")
	ended, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := first.Call(ended, "program_open", uint64(ptr), uint64(n))
		done <- err
	}()
	<-s.compiles
	opened := make(chan int, 1)
	go func() {
		handle, err := second.try("program_open", ptr, n)
		if err != nil {
			handle = 0
		}
		opened <- handle
	}()
	await.Until(t, "the second guest waits", func() bool { return wasm.Users(r.host) == 2 })
	cancel()
	close(s.release)
	await.Value(t, done) // stopped, or with a code
	require.Positive(t, await.Value(t, opened))
}
