package wasm_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/guestcode"
)

// small is a binary with a memory that exports a function "run" of a type and body; function 0 is imported.
func small(module, name, importType, typ, body string) []byte {
	sized := func(s string) string { return string([]byte{byte(len(s))}) + s }
	return guestcode.Join([]guestcode.Section{
		{ID: guestcode.Types, Body: []byte("\x02\x60" + importType + "\x60" + typ)},
		{ID: guestcode.Imports, Body: []byte("\x01" + sized(module) + sized(name) + "\x00\x00")},
		{ID: guestcode.Funcs, Body: []byte("\x01\x01")},
		{ID: 5, Body: []byte("\x01\x01\x01\x01")}, // memory of one page
		{ID: guestcode.Exports, Body: []byte("\x01" + sized("run") + "\x00\x01")},
		{ID: guestcode.Code, Body: []byte("\x01" + sized("\x00"+body+"\x0b"))},
	})
}

const (
	i32Result = "\x00\x01\x7f"
	noTypes   = "\x00\x00"
	callDrop  = "\x10\x00\x1a"         // call 0, drop
	forever   = "\x03\x40\x0c\x00\x0b" // loop, br 0, end
)

func (r *rig) small(t testing.TB, binary []byte, limits wasm.Limits) *wasm.Guest {
	code, err := r.host.Compile(context.Background(), binary)
	require.NoError(t, err)
	g, err := code.Start(context.Background(), limits)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, g.Close(context.Background()))
		require.NoError(t, code.Close(context.Background()))
	})
	return g
}

// entered requires that calls take no goroutine where wazero compiles.
func entered(t testing.TB, g *wasm.Guest) {
	if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
		require.True(t, g.Entered())
	}
}

// Values of every type pass an entrance, of guests that bring types in any order, compiled at the same time.
func TestEntrancesTakeEveryType(t *testing.T) {
	r := newRig(t, paths()[0])
	var all sync.WaitGroup
	for _, types := range []string{"\x7f", "\x7e", "\x7d", "\x7c", "\x6f", "\x7b", "\x7e\x7b\x7f", "\x7b\x7d\x7c\x7e\x6f"} {
		all.Go(func() {
			vector := string([]byte{byte(len(types))}) + types
			var body string
			var want []uint64
			for i, typ := range types {
				body += "\x20" + string([]byte{byte(i)}) // local.get
				want = append(want, uint64(i+1)<<8)
				if typ == '\x7b' {
					want = append(want, uint64(i+1)<<40)
				}
			}
			g := r.small(t, small("anekit", "version", i32Result, vector+vector, body), wasm.Limits{Memory: 65536})
			for range 3 {
				got, err := g.Call(context.Background(), "run", want...)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
			entered(t, g)
			_, err := g.Call(context.Background(), "run")
			require.ErrorIs(t, err, wasm.ErrExport)
		})
	}
	all.Wait()
}

// Limits.Time bounds a call, not many one after the other.
func TestTimeIsOfOneCall(t *testing.T) {
	looks := 1
	look := wasm.Functions(wasm.Function{Name: "look", Call: func(_ context.Context, g *wasm.Guest, _ []uint64) (int, error) {
		for range looks {
			g.LookLater()
		}
		return 0, nil
	}})
	for name, opts := range map[string][]wasm.Option{"bounded": {look}, "uninterrupted": {look, wasm.Uninterrupted()}} {
		r := newRig(t, path{engine: engine.Soft, align: 16384, host: opts})
		g := r.small(t, small("anekit", "look", i32Result, noTypes, callDrop),
			wasm.Limits{Memory: 65536, Time: time.Hour})
		for looks = range 10 {
			looks = min(looks, 1) // the first call begins the watch
			_, err := g.Call(context.Background(), "run")
			require.NoError(t, err, name)
		}
		looks = 2
		_, err := g.Call(context.Background(), "run")
		if name == "bounded" {
			require.ErrorIs(t, err, wasm.ErrTime)
			entered(t, g)
		} else {
			require.NoError(t, err)
		}
	}
}

// A context ends the calls that have it, and no others.
func TestContextsEndTheirCalls(t *testing.T) {
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	limits := wasm.Limits{Memory: 65536, Time: time.Hour}
	g := r.small(t, small("anekit", "version", i32Result, noTypes, callDrop), limits)
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		for range 3 {
			_, err := g.Call(ctx, "run")
			require.NoError(t, err)
		}
		go cancel()
		other, stop := context.WithCancel(context.Background())
		_, err := g.Call(other, "run")
		require.NoError(t, err)
		stop()
		_, err = g.Call(ctx, "nothing")
		require.Error(t, err)
		_, err = g.Call(context.Background(), "run")
		require.NoError(t, err)
	}
}

// A context, and Close, end a call that computes without end.
func TestEndsOfEndlessCalls(t *testing.T) {
	running := make(chan struct{})
	r := newRig(t, path{engine: engine.Soft, align: 16384, host: []wasm.Option{wasm.Functions(wasm.Function{Name: "tell",
		Call: func(context.Context, *wasm.Guest, []uint64) (int, error) { close(running); return 0, nil }})}})
	for _, closed := range []bool{false, true} {
		running = make(chan struct{})
		g := r.small(t, small("anekit", "tell", i32Result, noTypes, callDrop+forever),
			wasm.Limits{Memory: 65536, Time: time.Hour})
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-running
			if closed {
				_ = g.Close(context.Background())
			}
			cancel()
		}()
		_, err := g.Call(ctx, "run")
		require.ErrorIs(t, err, wasm.ErrTime)
		entered(t, g)
		_, err = g.Call(context.Background(), "run")
		require.True(t, errors.Is(err, wasm.ErrTime) || errors.Is(err, wasm.ErrClosed), "%v", err)
	}
}

// The context of a function ends with its call, and belongs to that call alone.
func TestFunctionsMayKeepTheirContext(t *testing.T) {
	var kept []context.Context
	r := newRig(t, path{engine: engine.Soft, align: 16384, host: []wasm.Option{wasm.Functions(wasm.Function{Name: "keep",
		Call: func(ctx context.Context, _ *wasm.Guest, _ []uint64) (int, error) {
			kept = append(kept, ctx)
			return 0, ctx.Err()
		}})}})
	g := r.small(t, small("anekit", "keep", i32Result, noTypes, callDrop), wasm.Limits{Memory: 65536})
	type key struct{}
	for i := range 3 {
		_, err := g.Call(context.WithValue(context.Background(), key{}, i), "run")
		require.NoError(t, err)
	}
	for i, ctx := range kept {
		require.Equal(t, i, ctx.Value(key{}))
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	g := r.small(t, small("anekit", "version", i32Result, noTypes, callDrop), wasm.Limits{Memory: 65536})
	require.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = g.Call(t.Context(), "run") }))
}

// A call that calls the host once; the floor is the same by wazero alone, whose calls neither a context nor time ends.
// On an EPYC of family 25 they take 160 and 121 ns; with WithCloseOnContextDone wazero takes 550 ns or more.
func BenchmarkCall(b *testing.B) {
	r := newRig(b, path{engine: engine.Soft, align: 16384})
	g := r.small(b, small("anekit", "version", i32Result, noTypes, callDrop), wasm.Limits{Memory: 65536})
	for b.Loop() {
		_, _ = g.Call(context.Background(), "run")
	}
}

func BenchmarkCallFloor(b *testing.B) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err := r.NewHostModuleBuilder("anekit").NewFunctionBuilder().WithGoFunction(
		api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = 1 }), nil,
		[]api.ValueType{api.ValueTypeI32}).Export("version").Instantiate(ctx)
	require.NoError(b, err)
	m, err := r.Instantiate(ctx, small("anekit", "version", i32Result, noTypes, callDrop))
	require.NoError(b, err)
	f := m.ExportedFunction("run")
	for b.Loop() {
		_, _ = f.Call(ctx)
	}
}
