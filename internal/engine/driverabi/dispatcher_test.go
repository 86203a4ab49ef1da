package driverabi

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func tables() map[string]func() []Method {
	return map[string]func() []Method{"control": ControlMethods, "direct": DirectMethods}
}

// handlersOf gives every enabled method a handler.
func handlersOf(methods []Method, h Handler) map[int]Handler {
	out := map[int]Handler{}
	for _, m := range methods {
		if !m.Disabled() {
			out[m.Selector] = h
		}
	}
	return out
}

// exact are arguments that m takes, with nil for what is empty.
func exact(m Method) *Args {
	a := &Args{}
	if m.ScalarIn > 0 {
		a.ScalarIn = make([]uint64, m.ScalarIn)
	}
	if m.StructIn > 0 {
		a.StructIn = make([]byte, m.StructIn)
	}
	if m.ScalarOut > 0 {
		a.ScalarOut = make([]uint64, m.ScalarOut)
	}
	if m.StructOut > 0 {
		a.StructOut = make([]byte, m.StructOut)
	}
	return a
}

// Every method of both clients, each of its four counts, wrong by one and by much in
// both directions: BadArgument, and the handler does not run.
func TestEveryOtherSizeIsRefused(t *testing.T) {
	counts := []struct {
		name string
		set  func(a *Args, n int)
		want func(m Method) uint32
	}{
		{"scalar in", func(a *Args, n int) { a.ScalarIn = make([]uint64, n) },
			func(m Method) uint32 { return m.ScalarIn }},
		{"struct in", func(a *Args, n int) { a.StructIn = make([]byte, n) },
			func(m Method) uint32 { return m.StructIn }},
		{"scalar out", func(a *Args, n int) { a.ScalarOut = make([]uint64, n) },
			func(m Method) uint32 { return m.ScalarOut }},
		{"struct out", func(a *Args, n int) { a.StructOut = make([]byte, n) },
			func(m Method) uint32 { return m.StructOut }},
	}
	for client, methods := range tables() {
		ran := 0
		d := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) error { ran++; return nil }))
		for _, m := range methods() {
			t.Run(client+"/"+m.Handler, func(t *testing.T) {
				ran = 0
				if got := d.Call(nil, m.Selector, exact(m)); m.Disabled() {
					require.Equal(t, Unsupported, got)
				} else {
					require.NoError(t, got)
					require.Equal(t, 1, ran)
				}
				ran = 0
				for _, c := range counts {
					right := int(c.want(m))
					for _, n := range []int{right - 1, right + 1, right + 2, right / 2, right * 2, 0, 1, 16, 40, 104,
						2376, 4096} {
						if n < 0 || n == right {
							continue
						}
						a := exact(m)
						c.set(a, n)
						require.Equal(t, BadArgument, d.Call(nil, m.Selector, a), "%s %d instead of %d", c.name, n,
							right)
					}
				}
				require.Zero(t, ran, "a handler ran")
			})
		}
	}
}

func TestNilAndEmptyAreEqual(t *testing.T) {
	for _, methods := range tables() {
		d := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) error { return nil }))
		for _, m := range methods() {
			a := &Args{ScalarIn: make([]uint64, m.ScalarIn), StructIn: make([]byte, m.StructIn),
				ScalarOut: make([]uint64, m.ScalarOut), StructOut: make([]byte, m.StructOut)}
			require.Equal(t, d.Call(nil, m.Selector, exact(m)), d.Call(nil, m.Selector, a), m.Handler)
		}
	}
}

func TestSelectorsOutOfRange(t *testing.T) {
	for client, methods := range tables() {
		ran := false
		d := NewDispatcher(methods(),
			handlersOf(methods(), func(any, *Args) error { ran = true; return nil }))
		for _, s := range []int{-1, len(methods()), len(methods()) + 1, math.MaxInt, math.MinInt} {
			require.Equal(t, BadArgument, d.Call(nil, s, &Args{}), "%s %d", client, s)
			_, ok := d.Method(s)
			require.False(t, ok)
		}
		require.Equal(t, BadArgument, d.Call(nil, 1, nil), "no arguments at all")
		require.False(t, ran)
		m, ok := d.Method(2)
		require.True(t, ok)
		require.Equal(t, methods()[2], m)
	}
	require.Equal(t, BadArgument, new(Dispatcher).Call(nil, 0, &Args{}))
}

// Text below table 27.6 and listing 27.2: selector 2 alone is asynchronous, and the wake
// port is for asynchronous selectors only.
func TestPortOfASynchronousMethod(t *testing.T) {
	for _, methods := range tables() {
		d := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) error { return nil }))
		for _, m := range methods() {
			for _, port := range []uint64{1, math.MaxUint32, 1 << 32, math.MaxUint64} {
				a := exact(m)
				a.AsyncPort = port
				if got := d.Call(nil, m.Selector, a); m.Selector == 2 {
					require.NoError(t, got, "port %#x", port)
				} else {
					require.Equal(t, BadArgument, got, "%s, port %#x", m.Handler, port)
				}
			}
		}
	}
}

// Text below table 27.3: selector 16 answers kIOReturnUnsupported unconditionally.
func TestLoadFirmwareIsUnsupported(t *testing.T) {
	d := NewDispatcher(ControlMethods(), nil)
	for _, a := range [][]uint64{{0, 0, 0}, {1, 2, 3}, {math.MaxUint64, math.MaxUint64, math.MaxUint64}} {
		require.Equal(t, Return(0xe00002c7), d.Call(nil, 16, &Args{ScalarIn: a}))
	}
	for _, m := range ControlMethods() {
		require.Equal(t, Unsupported, d.Call(nil, m.Selector, exact(m)), "no handler: %s", m.Handler)
	}
}

func TestHandlerGetsTheCall(t *testing.T) {
	client, a := new(int), &Args{StructIn: make([]byte, 2080)}
	d := NewDispatcher(DirectMethods(), map[int]Handler{DirectMemoryUnmap: func(c any, got *Args) error {
		require.Same(t, client, c)
		require.Same(t, a, got)
		return DeviceError
	}})
	require.Equal(t, DeviceError, d.Call(client, DirectMemoryUnmap, a))
}

// What the caller does to its table and its handlers later changes no dispatcher.
func TestDispatcherKeepsItsTable(t *testing.T) {
	methods := DirectMethods()
	handlers := handlersOf(methods, func(any, *Args) error { return nil })
	d := NewDispatcher(methods, handlers)
	methods[1].StructIn = 5
	clear(handlers)
	require.NoError(t, d.Call(nil, 1, &Args{}))
}

func TestCallsFromManyGoroutines(t *testing.T) {
	var ran atomic.Int64
	d := NewDispatcher(ControlMethods(),
		handlersOf(ControlMethods(), func(any, *Args) error { ran.Add(1); return nil }))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for _, m := range ControlMethods() {
					d.Call(nil, m.Selector, exact(m))
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 8*100*16, ran.Load())
}
