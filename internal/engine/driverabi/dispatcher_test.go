package driverabi

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func tables() map[string]func() []Method {
	return map[string]func() []Method{ControlClient: ControlMethods, DirectClient: DirectMethods}
}

// handlersOf gives every enabled method a handler.
func handlersOf(methods []Method, h Handler) map[int]Handler {
	out := map[int]Handler{}
	for _, m := range methods {
		if !m.Disabled {
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
		d, err := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) Return { ran++; return Success }))
		require.NoError(t, err)
		for _, m := range methods() {
			t.Run(client+"/"+m.Handler, func(t *testing.T) {
				want := Success
				if m.Disabled {
					want = Unsupported
				}
				ran = 0
				require.Equal(t, want, d.Call(nil, m.Selector, exact(m)))
				require.Equal(t, want == Success, ran == 1)
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
		d, err := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) Return { return Success }))
		require.NoError(t, err)
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
		d, err := NewDispatcher(methods(),
			handlersOf(methods(), func(any, *Args) Return { ran = true; return Success }))
		require.NoError(t, err)
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
	var none *Dispatcher
	require.Equal(t, BadArgument, none.Call(nil, 0, &Args{}))
	require.Equal(t, BadArgument, new(Dispatcher).Call(nil, 0, &Args{}))
	_, ok := none.Method(0)
	require.False(t, ok)
}

// Text below table 27.6 and listing 27.2: selector 2 alone is asynchronous, and the wake
// port is for asynchronous selectors only.
func TestPortOfASynchronousMethod(t *testing.T) {
	for _, methods := range tables() {
		d, err := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) Return { return Success }))
		require.NoError(t, err)
		for _, m := range methods() {
			for _, port := range []uint64{1, math.MaxUint32, 1 << 32, math.MaxUint64} {
				want := BadArgument
				if m.Selector == 2 {
					want = Success
				}
				a := exact(m)
				a.AsyncPort = port
				require.Equal(t, want, d.Call(nil, m.Selector, a), "%s, port %#x", m.Handler, port)
			}
		}
	}
}

// Text below table 27.2: selector 0 may have one buffer as input and output.
func TestOneBufferForBoth(t *testing.T) {
	d, err := NewDispatcher(ControlMethods(), map[int]Handler{ControlDeviceOpen: func(_ any, a *Args) Return {
		var s DeviceInfo
		if s.Decode(a.StructIn) != nil {
			return BadArgument
		}
		out := s.Answer(9, [2]uint32{32, 256}, 1, 4)
		if out.Encode(a.StructOut) != nil {
			return BadArgument
		}
		return Success
	}})
	require.NoError(t, err)
	b := noise(104)
	require.Equal(t, Success, d.Call(nil, ControlDeviceOpen, &Args{StructIn: b, StructOut: b}))
	require.Equal(t, noise(104)[8:0x48], b[8:0x48])
	require.Equal(t, []byte{9, 0, 0, 0, 0, 0, 0, 0}, b[:8])
}

type door struct{ closing bool }

func (d *door) Closing() bool { return d.closing }

// Closing clients get 0xe00002c5 from every selector, but a wrong size and a disabled
// path come first.
func TestClosingClient(t *testing.T) {
	for _, methods := range tables() {
		d, err := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) Return { return Success }))
		require.NoError(t, err)
		for _, m := range methods() {
			want := NotOpen
			if m.Disabled {
				want = Unsupported
			}
			require.Equal(t, want, d.Call(&door{closing: true}, m.Selector, exact(m)), m.Handler)
			require.Equal(t, BadArgument, d.Call(&door{closing: true}, m.Selector, &Args{ScalarIn: make([]uint64, 9)}))
			if !m.Disabled {
				require.Equal(t, Success, d.Call(&door{}, m.Selector, exact(m)))
			}
		}
	}
}

// Text below table 27.3: selector 16 answers kIOReturnUnsupported unconditionally.
func TestLoadFirmwareIsUnsupported(t *testing.T) {
	d, err := NewDispatcher(ControlMethods(), nil)
	require.NoError(t, err)
	for _, a := range [][]uint64{{0, 0, 0}, {1, 2, 3}, {math.MaxUint64, math.MaxUint64, math.MaxUint64}} {
		require.Equal(t, Return(0xe00002c7), d.Call(nil, 16, &Args{ScalarIn: a}))
	}
	for _, m := range ControlMethods() {
		require.Equal(t, Unsupported, d.Call(nil, m.Selector, exact(m)), "no handler: %s", m.Handler)
	}
}

func TestHandlerGetsTheCall(t *testing.T) {
	client, a := &door{}, &Args{StructIn: make([]byte, 2080)}
	d, err := NewDispatcher(DirectMethods(), map[int]Handler{DirectMemoryUnmap: func(c any, got *Args) Return {
		require.Same(t, client, c)
		require.Same(t, a, got)
		return CannotWire
	}})
	require.NoError(t, err)
	require.Equal(t, CannotWire, d.Call(client, DirectMemoryUnmap, a))
}

func TestBadTables(t *testing.T) {
	h := func(any, *Args) Return { return Success }
	unchecked := func(set func(*Method)) []Method {
		m := ControlMethods()
		set(&m[5])
		return m
	}
	for name, c := range map[string]struct {
		methods  []Method
		handlers map[int]Handler
		text     string
	}{
		"sentinel scalar in": {unchecked(func(m *Method) { m.ScalarIn = 0xffffffff }), nil,
			"selector 5 (ANE_ProgramUnprepare): bad method table; give exact sizes"},
		"sentinel struct in":  {unchecked(func(m *Method) { m.StructIn = 0xffffffff }), nil, "0xffffffff"},
		"sentinel scalar out": {unchecked(func(m *Method) { m.ScalarOut = 0xffffffff }), nil, "0xffffffff"},
		"sentinel struct out": {unchecked(func(m *Method) { m.StructOut = 0xffffffff }), nil, "0xffffffff"},
		"twice":               {[]Method{{Selector: 0}, {Selector: 0}}, nil, "in order from 0"},
		"gap":                 {[]Method{{Selector: 0}, {Selector: 2}}, nil, "selector 2"},
		"negative":            {[]Method{{Selector: -1}}, nil, "selector -1"},
		"handler beyond":      {DirectMethods(), map[int]Handler{9: h}, "selector 9 (not in the table)"},
		"handler below":       {DirectMethods(), map[int]Handler{-1: h}, "selector -1"},
		"nil handler":         {DirectMethods(), map[int]Handler{3: nil}, "ANE_ProgramOutputSetEnqueue"},
		"disabled":            {ControlMethods(), map[int]Handler{16: h}, "ANE_LoadFirmware"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := NewDispatcher(c.methods, c.handlers)
			require.Nil(t, d)
			require.ErrorIs(t, err, ErrTable)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// What the caller does to its table and its handlers later changes no dispatcher.
func TestDispatcherKeepsItsTable(t *testing.T) {
	methods := DirectMethods()
	handlers := handlersOf(methods, func(any, *Args) Return { return Success })
	d, err := NewDispatcher(methods, handlers)
	require.NoError(t, err)
	methods[1].StructIn = 5
	clear(handlers)
	require.Equal(t, Success, d.Call(nil, 1, &Args{}))
}

func TestCallsFromManyGoroutines(t *testing.T) {
	var ran atomic.Int64
	d, err := NewDispatcher(ControlMethods(),
		handlersOf(ControlMethods(), func(any, *Args) Return { ran.Add(1); return Success }))
	require.NoError(t, err)
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
