package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/guestbuild"
	"github.com/anekit/anekit/unimem"
)

func TestGuestsAreWhatTheirSourcesBuild(t *testing.T) {
	guestbuild.Same(t, "testdata/calls.wat")
	guestbuild.Same(t, "testdata/greedy.wat")
	guestbuild.Same(t, "testdata/wasi.wat")
}

func TestEngineWorksWhereTheGuestHasItsMatrices(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{})
		require.Equal(t, 1, g.call("version"))
		require.Equal(t, r.path.align, g.call("alignment"))
		program, request := g.open()
		for _, name := range []string{"a", "b", "c"} {
			require.Equal(t, bytesOf, g.named("tensor_bytes", program, name))
			require.Equal(t, 2*side, g.named("tensor_stride", program, name, 3))
			require.Equal(t, 2, g.named("tensor_stride", program, name, 4))
		}
		g.bindAll(request)
		for seed := range 3 {
			g.fill(seed)
			require.Zero(t, g.need("evaluate", request))
			require.Zero(t, g.wrong(seed), "of 16,384 elements")
			require.Zero(t, g.need("start", request))
			g.refused(wasm.CodeBusy, "evaluate", request)
			g.refused(wasm.CodeBusy, "start", request)
			require.Zero(t, g.need("wait", request))
			g.refused(wasm.CodeBusy, "wait", request)
		}
		if r.path.copying {
			require.EqualValues(t, 6*3*bytesOf, g.Copied(), "three matrices in each of six runs")
		} else {
			require.Zero(t, g.Copied(), "the guest had written nothing before it bound")
		}
		require.Zero(t, g.need("request_close", request))
		require.Zero(t, g.need("program_close", program))
	})
}

// The memory grows between two runs; what is bound stays bound.
func TestGrowthKeepsTensors(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{})
		_, request := g.open()
		g.bindAll(request)
		g.fill(1)
		address := g.Memory().Address()
		require.Equal(t, 4, g.call("grow", 100))
		require.Equal(t, address, g.Memory().Address())
		require.Zero(t, g.need("evaluate", request))
		require.Zero(t, g.wrong(1))
	})
}

// A binding is replaced by another one, on pages that overlap the first ones too.
func TestRebinding(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{})
		_, request := g.open()
		g.call("grow", 10)
		g.bindAll(request)
		g.fill(1)
		require.Zero(t, g.need("evaluate", request))
		require.Zero(t, g.named("bind", request, "c", cAt+2*bytesOf, bytesOf), g.lastError())
		g.fill(2)
		require.Zero(t, g.need("evaluate", request))
		require.Zero(t, g.wrong(1), "the range of before has the values of before")
		require.Zero(t, g.named("bind", request, "c", cAt, bytesOf), g.lastError())
		require.Zero(t, g.need("evaluate", request))
		require.Zero(t, g.wrong(2))
	})
}

func TestLyingGuests(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{Memory: 1 << 20})
		program, request := g.open()
		end := g.Memory().Size()
		bind := func(name string, ptr, n int) wasm.Code {
			return wasm.Code(g.named("bind", request, name, ptr, n))
		}
		require.Equal(t, wasm.CodeBounds, bind("a", end, bytesOf))
		require.Equal(t, wasm.CodeBounds, bind("a", end-16384, bytesOf))
		require.Equal(t, wasm.CodeBounds, bind("a", math.MaxUint32&^16383, bytesOf))
		require.Equal(t, wasm.CodeBounds, bind("a", 16384, math.MaxUint32&^16383))
		require.Equal(t, wasm.CodeShort, bind("a", aAt, bytesOf-1))
		require.Equal(t, wasm.CodeShort, bind("a", aAt, 0))
		require.Equal(t, wasm.CodeAligned, bind("a", aAt+2, bytesOf))
		require.Contains(t, g.lastError(), "multiple of")
		require.Equal(t, wasm.CodeName, bind("d", aAt, bytesOf))
		require.Equal(t, wasm.CodeName, bind("", aAt, bytesOf))
		for _, call := range []string{"request_open", "program_close", "request_close", "evaluate", "start", "wait"} {
			g.refused(wasm.CodeHandle, call, 0)
			g.refused(wasm.CodeHandle, call, -1)
			g.refused(wasm.CodeHandle, call, 99)
		}
		g.refused(wasm.CodeHandle, "evaluate", program)
		g.refused(wasm.CodeHandle, "request_open", request)
		g.refused(wasm.CodeBounds, "program_open", end-1, 2)
		g.refused(wasm.CodeBounds, "program_open", math.MaxUint32, 1)
		g.refused(wasm.CodeLimit, "program_open", 0, math.MaxUint32)
		g.refused(wasm.CodeName, "program_open", 0, 0)
		ptr, n := g.put("\xff\xfe")
		g.refused(wasm.CodeArgument, "program_open", ptr, n)
		g.refused(wasm.CodeUnbound, "evaluate", request)
		g.refused(wasm.CodeBusy, "program_close", program)
		g.bindAll(request)
		require.Zero(t, bind("c", aAt, bytesOf))
		if !r.path.copying {
			g.refused(wasm.CodeMismatch, "evaluate", request)
		}
		require.Zero(t, bind("c", cAt, bytesOf))
		require.Zero(t, g.need("evaluate", request))
		require.Equal(t, int(wasm.CodeArgument), g.named("tensor_stride", program, "a", 5))
		require.Equal(t, int(wasm.CodeArgument), g.named("tensor_stride", program, "a", -1))

		require.Zero(t, g.need("request_close", request))
		g.refused(wasm.CodeHandle, "evaluate", request)
		require.Zero(t, g.need("program_close", program))
		g.refused(wasm.CodeHandle, "request_open", program)
		again := g.need("request_open", g.need("program_open", textAt, putText(g, "product")))
		require.Greater(t, again, request, "no handle is used twice")
		_, err := g.try("load", end-3)
		require.ErrorIs(t, err, wasm.ErrTrap)
	})
}

func putText(g *guest, text string) int { _, n := g.put(text); return n }

func TestProgramsOfTheGuest(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{Programs: 2})
		text, err := product(t).MIL()
		require.NoError(t, err)
		ptr, n := g.put(string(text))
		first := g.need("program_compile", ptr, n)
		second := g.need("program_compile", ptr, n)
		require.NotEqual(t, first, second)
		g.refused(wasm.CodeLimit, "program_compile", ptr, n)
		ptr, n = g.put("product")
		g.refused(wasm.CodeLimit, "program_open", ptr, n)
		require.Zero(t, g.need("program_close", first))
		ptr, n = g.put("program(1.3) nonsense")
		g.refused(wasm.CodeCompile, "program_compile", ptr, n)
		require.Contains(t, g.lastError(), "guest.mil")
		ptr, n = g.put(string(text))
		third := g.need("program_compile", ptr, n)
		request := g.need("request_open", third)
		g.bindAll(request)
		g.fill(4)
		require.Zero(t, g.need("evaluate", request))
		require.Zero(t, g.wrong(4))
	})
}

func TestLimits(t *testing.T) {
	r := newRig(t, paths()[0])
	g := r.start("calls.wasm", wasm.Limits{Memory: 1 << 20, Objects: 3, Text: 100, Caches: 1 << 20})
	require.Equal(t, -1, g.call("grow", 13))
	require.Equal(t, 4, g.call("grow", 12))
	g.refused(wasm.CodeLimit, "program_compile", 0, 101)
	program, first := g.open()
	second := g.need("request_open", program)
	cache := g.need("cache_open", 1, 1, 8, 10)
	g.refused(wasm.CodeLimit, "request_open", program)
	g.refused(wasm.CodeLimit, "cache_open", 1, 1, 8, 10)
	require.Zero(t, g.need("request_close", first))
	g.refused(wasm.CodeLimit, "cache_open", 4, 4, 64, 1024)
	g.refused(wasm.CodeLimit, "cache_open", -1, -1, -1, -1)
	g.refused(wasm.CodeArgument, "cache_open", 0, 1, 1, 1)
	require.Zero(t, g.need("cache_close", cache))
	require.Zero(t, g.need("request_close", second))

	ctx := context.Background()
	code, err := r.host.Compile(ctx, wasmFile(t, "calls.wasm"))
	require.NoError(t, err)
	defer code.Close(ctx)
	_, err = code.Start(ctx, wasm.Limits{Memory: 3 * 65536})
	require.ErrorIs(t, err, wasm.ErrLimit)
	none := r.start("calls.wasm", wasm.Limits{Text: -1})
	none.refused(wasm.CodeUnsupported, "program_compile", 0, 10)
	none.open()
	require.NoError(t, none.Close(ctx))
	_, err = r.host.Compile(ctx, []byte("nonsense"))
	require.ErrorIs(t, err, wasm.ErrCode)
	require.ErrorIs(t, r.host.Close(ctx), wasm.ErrInUse)
}

func TestTimeEndsEndlessGuests(t *testing.T) {
	r := newRig(t, paths()[0])
	g := r.start("calls.wasm", wasm.Limits{Time: 50 * time.Millisecond})
	_, err := g.try("spin")
	require.ErrorIs(t, err, wasm.ErrTime)
	_, again := g.try("version")
	require.ErrorIs(t, again, wasm.ErrTime, "the guest takes no further calls")
	require.NoError(t, g.Close(context.Background()))
	_, err = g.try("version")
	require.ErrorIs(t, err, wasm.ErrClosed)
}

func TestCallsOfTheHost(t *testing.T) {
	r := newRig(t, paths()[0])
	var said bytes.Buffer
	g := r.start("calls.wasm", wasm.Limits{Output: &said})
	_, err := g.try("nonsense")
	require.ErrorIs(t, err, wasm.ErrExport)
	_, err = g.try("load")
	require.ErrorIs(t, err, wasm.ErrExport)
	ptr, n := g.put("hello\n")
	require.Zero(t, g.need("print", ptr, n))
	require.Equal(t, "hello\n", said.String())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = g.Call(ctx, "version")
	require.ErrorIs(t, err, wasm.ErrTime)
	require.Equal(t, 1, g.call("version"), "a call that did not begin ends nothing")
	_, err = g.try("trap")
	require.ErrorIs(t, err, wasm.ErrTrap)
	_, err = g.try("version")
	require.ErrorIs(t, err, wasm.ErrTrap)
}

func TestCaches(t *testing.T) {
	overPaths(t, func(t *testing.T, r *rig) {
		g := r.start("calls.wasm", wasm.Limits{})
		const heads, dim = 2, 4
		c := g.need("cache_open", 2, heads, dim, 256)
		k, err := g.Memory().Range(aAt, 3*heads*dim*2)
		require.NoError(t, err)
		for i := range k {
			k[i] = byte(i)
		}
		for layer := range 2 {
			require.Zero(t, g.need("cache_append", c, layer, aAt, aAt, 3))
		}
		require.EqualValues(t, 2*2*len(k), g.Copied())
		require.Zero(t, g.need("cache_advance", c, 3))
		require.Equal(t, 3, g.need("cache_length", c))
		g.refused(wasm.CodeArgument, "cache_advance", c, 1)
		g.refused(wasm.CodeArgument, "cache_append", c, 2, aAt, aAt, 1)
		g.refused(wasm.CodeArgument, "cache_append", c, 0, aAt, aAt, 0)
		g.refused(wasm.CodeBounds, "cache_append", c, 0, aAt, aAt, -1)
		g.refused(wasm.CodeBounds, "cache_append", c, 0, aAt, g.Memory().Size()-1, 1)
		g.refused(wasm.CodeFull, "cache_append", c, 0, aAt, aAt, 254)
		g.refused(wasm.CodeArgument, "cache_truncate", c, 4)
		require.Zero(t, g.need("cache_truncate", c, 2))
		require.Equal(t, 2, g.need("cache_length", c))

		// A program reads the keys of a layer in place.
		b := mil.NewBuilder()
		f := b.Func("main")
		x := f.Input("x", mil.FP16, 1, heads, 256, dim)
		f.Output(f.Op("identity", mil.TensorOf(mil.FP16, 1, heads, 256, dim), "y", mil.A("x", x)))
		p, err := b.Program()
		require.NoError(t, err)
		ptr, n := g.put(string(mil.Print(p)))
		program := g.need("program_compile", ptr, n)
		request := g.need("request_open", program)
		bytes := g.named("tensor_bytes", program, "y")
		row := g.named("tensor_stride", program, "y", 3)
		plane := g.named("tensor_stride", program, "y", 1)
		g.call("grow", 8)
		require.Equal(t, int(wasm.CodeMismatch), g.named("bind_keys", request, "y", c, 0))
		require.Equal(t, int(wasm.CodeArgument), g.named("bind_keys", request, "x", c, 2))
		require.Equal(t, int(wasm.CodeArgument), g.named("bind_values", request, "x", c, -1))
		require.Equal(t, int(wasm.CodeHandle), g.named("bind_values", request, "x", request, 0))
		require.Zero(t, g.named("bind_values", request, "x", c, 1), g.lastError())
		require.Zero(t, g.named("bind", request, "y", aAt, (bytes+16383)/16384*16384), g.lastError())
		require.Zero(t, g.need("evaluate", request))
		y, err := g.Memory().Range(aAt, uint64(bytes))
		require.NoError(t, err)
		for token := range 2 {
			for head := range heads {
				at := (token*heads + head) * dim * 2
				want := make([]byte, dim*2)
				for i := range want {
					want[i] = byte(at + i)
				}
				require.Equal(t, want, y[head*plane+token*row:][:dim*2])
			}
		}
		g.refused(wasm.CodeBusy, "cache_close", c)
		require.Zero(t, g.need("request_close", request))
		require.Zero(t, g.need("cache_close", c))
		g.refused(wasm.CodeHandle, "cache_length", c)
	})
}

// slow is an engine whose runs write nothing and end with their context.
type slow struct {
	ane.Engine
	running chan struct{} // receives when a run has begun
}

type slowProgram struct {
	ane.Executable
	engine *slow
}

type slowRun struct {
	ane.Invocation
	engine *slow
}

func (e *slow) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := e.Engine.Compile(ctx, src)
	return &slowProgram{x, e}, err
}

func (p *slowProgram) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	i, err := p.Executable.Prepare(in, out)
	return &slowRun{i, p.engine}, err
}

func (r *slowRun) Evaluate(ctx context.Context) error {
	r.engine.running <- struct{}{}
	<-ctx.Done()
	return ane.Deadline("evaluate", "slow", ctx.Err())
}

func newSlow(t *testing.T, r path) (*rig, *slow) {
	s := &slow{running: make(chan struct{}, 1)}
	return newRig(t, r, engine.Wrap(func(e ane.Engine) ane.Engine { s.Engine = e; return s })), s
}

// The engine is done with a guest's memory before the memory is freed, however the guest ends.
func TestEndsWhileARequestIsInFlight(t *testing.T) {
	for _, p := range paths()[:2] {
		for _, end := range []string{"trap", "exit", "close", "time", "context"} {
			t.Run(p.name+"/"+end, func(t *testing.T) {
				r, s := newSlow(t, p)
				g := r.start("calls.wasm", wasm.Limits{Time: time.Hour})
				_, request := g.open()
				g.bindAll(request)
				ctx := context.Background()
				switch end {
				case "trap":
					require.Zero(t, g.need("start", request))
					<-s.running
					_, err := g.Call(ctx, "trap")
					require.ErrorIs(t, err, wasm.ErrTrap)
				case "exit":
					require.Zero(t, g.need("start", request))
					<-s.running
					_, err := g.Call(ctx, "exit", 3)
					require.ErrorIs(t, err, wasm.ErrExit)
					var e *wasm.Error
					require.ErrorAs(t, err, &e)
					require.EqualValues(t, 3, e.Exit)
				case "close":
					require.Zero(t, g.need("start", request))
					<-s.running
				case "time":
					g.SetTime(100 * time.Millisecond) // of this call, not of those that open and bind
					results, err := g.Call(ctx, "evaluate_on", uint64(request))
					if err == nil { // the guest has returned before it was stopped
						require.Equal(t, wasm.CodeDeadline, wasm.Code(uint32(results[0])))
					} else {
						require.ErrorIs(t, err, wasm.ErrTime)
					}
				case "context":
					ctx, cancel := context.WithCancel(ctx)
					go func() { <-s.running; cancel() }()
					_, err := g.Call(ctx, "evaluate_on", uint64(request))
					if err != nil {
						require.ErrorIs(t, err, wasm.ErrTime)
					}
				}
				require.NoError(t, g.Close(context.Background()))
				require.NoError(t, g.Memory().Close())
				require.Zero(t, unimem.Live().Blocks)
			})
		}
	}
}

// Close ends a call that another goroutine runs.
func TestCloseEndsARunningCall(t *testing.T) {
	r, s := newSlow(t, paths()[0])
	g := r.start("calls.wasm", wasm.Limits{Time: time.Hour})
	_, request := g.open()
	g.bindAll(request)
	done := make(chan error, 1)
	go func() {
		_, err := g.Call(context.Background(), "evaluate", uint64(request))
		done <- err
	}()
	<-s.running
	require.NoError(t, g.Close(context.Background()))
	if err := <-done; err != nil {
		require.True(t, errors.Is(err, wasm.ErrTime) || errors.Is(err, wasm.ErrClosed), "%v", err)
	}
}
