//go:build !macrules

package broker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/unimem"
)

// life is everything that a client does, once. It returns the first error and closes
// what it opened all the same.
func life(ctx context.Context, e ane.Engine) error { return lifeOf(ctx, e, func() {}) }

// lifeOf calls held before it waits for a run that was given up, which holds a Block until
// the broker has answered or ended.
func lifeOf(ctx context.Context, e ane.Engine, held func()) (err error) {
	note := func(got error) bool {
		if err == nil {
			err = got
		}
		return got == nil
	}
	x, got := e.Compile(ctx, negation())
	if !note(got) {
		return err
	}
	defer func() { note(x.Close()) }()
	if !note(x.Load(ctx)) {
		return err
	}
	defer func() { note(x.Unload(ctx)) }()
	var tensors []*ane.Tensor
	for _, l := range []ane.Layout{x.Inputs()[0], x.Outputs()[0]} {
		b, got := unimem.Open(l.Bytes())
		if !note(got) {
			return err
		}
		defer func() {
			got := b.Close()
			if errors.Is(got, unimem.ErrInUse) {
				held()
				await.Poll(func() bool { got = b.Close(); return !errors.Is(got, unimem.ErrInUse) })
			}
			note(got)
		}()
		t, got := ane.OnBlock(b, l)
		if !note(got) {
			return err
		}
		tensors = append(tensors, t)
	}
	v, got := x.Prepare(tensors[:1], tensors[1:])
	if !note(got) {
		return err
	}
	defer func() { note(v.Close()) }()
	if !note(v.Evaluate(ctx)) {
		return err
	}
	return err
}

// stages are the requests of a life, in their order.
var stages = []wire.Kind{wire.KindCompile, wire.KindLoad, wire.KindSurface, wire.KindBind, wire.KindEvaluate,
	wire.KindUnbind, wire.KindUnload, wire.KindRelease}

// ending are those that undo something: without a broker nothing is left to undo.
var ending = []wire.Kind{wire.KindUnbind, wire.KindUnload, wire.KindRelease}

// ways runs a test with a broker that answers the bell, and with one that does not.
func ways(t *testing.T, test func(t *testing.T, newFake func(*testing.T) *fake)) {
	for name, deaf := range map[string]bool{"bell": false, "socket": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T) *fake {
				f := newFake(t)
				f.mu.Lock()
				defer f.mu.Unlock()
				f.deaf = deaf
				return f
			})
		})
	}
}

// The connection ends at every stage of a life, each time in every way.
func TestFates(t *testing.T) { ways(t, testFates) }

func testFates(t *testing.T, newFake func(*testing.T) *fake) {
	for what, fate := range map[string]fate{"dies": die, "babbles": babble, "answers something else": other,
		"answers another": stray} {
		t.Run(what, func(t *testing.T) {
			f := newFake(t)
			e, err := Open(t.Context(), Options{Path: f.path})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			for _, k := range stages {
				f.on(k, fate)
				err := life(t.Context(), e)
				switch {
				case slices.Contains(ending, k):
					require.NoError(t, err, k)
				default:
					require.ErrorIs(t, err, ane.ErrLost, k)
				}
				f.on(0, work)
				require.NoError(t, life(t.Context(), e), "after %v", k)
			}
			require.Equal(t, 1+len(stages), starts(e))
		})
	}
}

// A broker that refuses keeps the connection.
func TestRefusals(t *testing.T) { ways(t, testRefusals) }

func testRefusals(t *testing.T, newFake func(*testing.T) *fake) {
	f := newFake(t)
	e, err := Open(t.Context(), Options{Path: f.path})
	require.NoError(t, err)
	for _, k := range stages {
		f.on(k, refuse)
		require.ErrorIs(t, life(t.Context(), e), ane.ErrExhausted, k)
		f.on(0, work)
	}
	require.Equal(t, 1, starts(e))
	require.NoError(t, e.Close())
}

// A broker that does not answer costs a call its context, or patience where it has
// none; what it held is given back.
func TestFreezes(t *testing.T) { ways(t, testFreezes) }

func testFreezes(t *testing.T, newFake func(*testing.T) *fake) {
	for _, k := range stages {
		t.Run(k.String(), func(t *testing.T) {
			f := newFake(t)
			e, err := Open(t.Context(), Options{Path: f.path})
			require.NoError(t, err)
			require.NoError(t, life(t.Context(), e))
			impatient(e, 50*time.Millisecond)
			f.on(k, freeze)
			thaw := sync.OnceFunc(func() { f.on(0, work); close(f.thaw) })
			ctx := await.DeadlineWhen(t, t.Context(), func() bool { return f.frozen.Load() })
			require.ErrorIs(t, lifeOf(ctx, e, thaw), ane.ErrDeadline)
			thaw()
			impatient(e, DefaultPatience)
			require.NoError(t, life(t.Context(), e), "after the thaw")
			require.NoError(t, e.Close())
		})
	}
}

// A Model whose Unload was given up is loaded: a run waits for the broker's answer, and loads the program again.
func TestEvaluateAfterAnUnloadGivenUp(t *testing.T) { ways(t, testEvaluateAfterAnUnloadGivenUp) }

func testEvaluateAfterAnUnloadGivenUp(t *testing.T, newFake func(*testing.T) *fake) {
	f := newFake(t)
	r := newRig(t, Options{Path: f.path}, negation())
	f.on(wire.KindUnload, freeze)
	ctx := await.DeadlineWhen(t, t.Context(), func() bool { return f.frozen.Load() })
	require.ErrorIs(t, r.model.Unload(ctx), ane.ErrDeadline)
	short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, r.run(short), ane.ErrDeadline)
	f.on(0, work)
	close(f.thaw)
	r.negates(t, 3)
	require.Equal(t, 1, f.count(wire.KindEvaluate), "none is sent to a program that is about to be unloaded")
}
