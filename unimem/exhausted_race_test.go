package unimem_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

// pool has idle Blocks, like an engine with idle requests.
type pool struct {
	mu   sync.Mutex
	idle kept
}

func (p *pool) put(b *unimem.Block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, b)
}

func (p *pool) free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle.free()
}

// Callers open Blocks under a limit while others free idle Blocks: each gets a Block or
// ErrExhausted, and nothing leaks.
func TestExhaustionRace(t *testing.T) {
	f := surfacetest.New(t)
	f.Limit(workers + 2)
	option := blockoption.On(f.Table())
	var p pool
	var running, twice, wrong, opened atomic.Int64
	whenExhausted(t, func() int {
		if running.Add(1) > 1 {
			twice.Add(1)
		}
		defer running.Add(-1)
		return p.free()
	})
	together(func(int) {
		for i := range rounds(500) {
			cancel := unimem.OnExhausted(func() int { return 0 })
			b, err := unimem.Open(page, option)
			switch {
			case err == nil:
				opened.Add(1)
				if m, err := unimem.Map(b); err != nil || m.Close() != nil {
					wrong.Add(1)
				}
				p.put(b)
			case !errors.Is(err, unimem.ErrExhausted):
				wrong.Add(1)
			}
			if i%2 == 0 {
				cancel()
			}
			defer cancel()
		}
	})
	require.Zero(t, wrong.Load())
	require.Zero(t, twice.Load(), "the functions never run concurrently")
	require.Greater(t, opened.Load(), int64(workers+2), "freeing memory allows more Blocks than the limit")
	p.free()
	require.Zero(t, f.Count())
	require.Zero(t, unimem.Live().Blocks)
}

// A call that is refused while functions run waits for them and shares the result.
func TestOneRoundForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := surfacetest.New(t)
		option := blockoption.On(f.Table())
		var idle kept
		idle.keep(t, 3, option)
		f.Limit(3)
		calls := 0
		goOn := make(chan struct{})
		cancel := unimem.OnExhausted(func() int {
			calls++
			<-goOn
			return idle.free()
		})
		blocks := make(chan *unimem.Block, 3)
		for range cap(blocks) {
			go func() {
				b, err := unimem.Open(page, option)
				if err != nil {
					t.Error(err)
				}
				blocks <- b
			}()
		}
		synctest.Wait() // one goroutine is in the function, the others wait for it
		require.Equal(t, 1, calls)
		close(goOn)
		for range cap(blocks) {
			require.NoError(t, (<-blocks).Close())
		}
		require.Equal(t, 1, calls)
		cancel()
	})
}

// A function that opens memory, directly or through another goroutine, is not called
// recursively and blocks no caller forever. The test has a fake clock.
func TestHolderThatOpensMemory(t *testing.T) {
	for name, run := range map[string]func(func()){
		"itself": func(f func()) { f() },
		"another": func(f func()) {
			over := make(chan struct{})
			go func() { defer close(over); f() }()
			<-over
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := surfacetest.New(t)
				option := blockoption.On(f.Table())
				calls := 0
				var inner error
				cancel := unimem.OnExhausted(func() int {
					calls++
					run(func() { _, inner = unimem.Open(page, option) })
					return 0
				})
				f.FailMany("IOSurfaceCreate", 1, 2)
				_, err := unimem.Open(page, option)
				cancel()
				require.ErrorIs(t, err, unimem.ErrExhausted)
				require.ErrorIs(t, inner, unimem.ErrExhausted)
				require.Equal(t, 1, calls)
				require.Zero(t, f.Count())
			})
		})
	}
}
