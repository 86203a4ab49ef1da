//go:build !macrules

package broker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/leaktest"
)

// doubling maps x to 2x.
func doubling() ane.Source {
	const shape = "tensor<fp16, [1, 2, 3, 32]>"
	return source("doubling", shape, "y", shape+` y = mul(x = x, y = fp16(0x1p+1))[name = string("y")];`)
}

// wide has one output more than a step may have.
func wide() ane.Source {
	const shape = "tensor<fp16, [1, 2, 3, 32]>"
	body, outs := "", ""
	for i := range 7 {
		body += fmt.Sprintf("%s y%d = mul(x = x, y = fp16(0x1p+0))[name = string(\"y%d\")];\n", shape, i, i)
		outs += fmt.Sprintf(", y%d", i)
	}
	return source("wide", shape, outs[2:], body)
}

// links is an engine with programs whose requests are tied one to the next.
type links struct {
	engine   ane.Engine
	programs []ane.Executable
	tensors  []*ane.Tensor // the input of the first request, then the output of each
	steps    []ane.Invocation
}

// newLinks opens an engine and binds sources, one after another: each reads what the one
// before wrote.
func newLinks(t testing.TB, o Options, sources ...ane.Source) *links {
	e, err := Open(context.Background(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	l := &links{engine: e}
	for _, src := range sources {
		x, err := e.Compile(context.Background(), src)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, x.Close()) })
		require.NoError(t, x.Load(context.Background()))
		l.programs = append(l.programs, x)
		if len(l.tensors) == 0 {
			l.tensors = append(l.tensors, memory(t, x.Inputs()[0]))
		}
		var out []*ane.Tensor
		for _, layout := range x.Outputs() {
			out = append(out, memory(t, layout))
		}
		v, err := x.Prepare(l.tensors[len(l.tensors)-1:], out)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, v.Close()) })
		l.tensors, l.steps = append(l.tensors, out[0]), append(l.steps, v)
	}
	return l
}

func (l *links) chain(ctx context.Context) error {
	return l.engine.(ane.Chainer).EvaluateChain(ctx, l.steps)
}

// fill writes n everywhere into the first input and zeros into all else.
func (l *links) fill(t testing.TB, n float32) {
	for i, x := range l.tensors {
		f := make([]float32, x.Layout().Elements())
		for j := range f {
			if i == 0 {
				f[j] = n + float32(j%7)
			}
		}
		_, err := x.WriteFloat32(f)
		require.NoError(t, err)
	}
}

// outputs copies what the steps wrote.
func (l *links) outputs() (all [][]byte) {
	for _, x := range l.tensors[1:] {
		all = append(all, append([]byte(nil), x.Bytes()...))
	}
	return all
}

// counter is one of the broker's own.
func counter(t testing.TB, e ane.Engine, name string) uint64 {
	all, err := e.(ane.Keeper).Counters(context.Background())
	require.NoError(t, err)
	require.Contains(t, all, name)
	return all[name]
}

// A chain writes what the same requests write one by one, with one frame each way: what
// lies between two steps never leaves its surface.
func TestChainEqualsSingleRuns(t *testing.T) {
	l := newLinks(t, Options{}, negation(), doubling(), negation(), doubling(), doubling())
	l.fill(t, 3)
	before := l.engine.(*engine).traffic()
	for _, v := range l.steps {
		require.NoError(t, v.Evaluate(t.Context()))
	}
	singly := l.engine.(*engine).traffic()
	want := l.outputs()
	l.fill(t, 3)
	require.NotEqual(t, want, l.outputs())
	between := l.engine.(*engine).traffic()
	require.NoError(t, l.chain(t.Context()))
	chained := l.engine.(*engine).traffic()
	require.Equal(t, want, l.outputs())

	require.EqualValues(t, len(l.steps), singly.FramesOut-before.FramesOut)
	require.EqualValues(t, 1, chained.FramesOut-between.FramesOut, "one submission")
	require.LessOrEqual(t, chained.BytesOut-between.BytesOut, uint64(wire.HeaderSize+32+16*len(l.steps)))
	require.LessOrEqual(t, chained.BytesIn-between.BytesIn, uint64(wire.HeaderSize+32), "one completion")
}

// A request may be a step several times, and chains of the same programs may be in flight
// at once.
func TestChainsShareTheirPrograms(t *testing.T) {
	l := newLinks(t, Options{}, doubling(), doubling())
	// A second request of the first program, from the last tensor back to the first.
	back, err := l.programs[0].Prepare(l.tensors[2:], l.tensors[:1])
	require.NoError(t, err)
	defer back.Close()
	l.fill(t, 0)
	l.steps = append(append(l.steps, back), append(l.steps, back)...)
	require.NoError(t, l.chain(t.Context()))
	f := make([]float32, l.tensors[0].Layout().Elements())
	_, err = l.tensors[0].ReadFloat32(f)
	require.NoError(t, err)
	require.EqualValues(t, 64, f[1], "doubled six times")

	var all sync.WaitGroup
	for n := range 8 {
		layout := l.programs[0].Inputs()[0]
		in, mid, out := memory(t, layout), memory(t, layout), memory(t, layout)
		first, err := l.programs[0].Prepare([]*ane.Tensor{in}, []*ane.Tensor{mid})
		require.NoError(t, err)
		defer first.Close()
		second, err := l.programs[0].Prepare([]*ane.Tensor{mid}, []*ane.Tensor{out})
		require.NoError(t, err)
		defer second.Close()
		all.Go(func() {
			own := make([]float32, in.Layout().Elements())
			for round := range 20 {
				own[0] = float32(n*20 + round)
				_, err := in.WriteFloat32(own)
				err = errors.Join(err, l.engine.(ane.Chainer).EvaluateChain(context.Background(),
					[]ane.Invocation{first, second}))
				got := make([]float32, len(own))
				_, read := out.ReadFloat32(got)
				if err = errors.Join(err, read); err != nil || got[0] != 4*own[0] {
					t.Errorf("chain %d, round %d: %v, want %v: %v", n, round, got[0], 4*own[0], err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestChainsThatAreRefused(t *testing.T) {
	l := newLinks(t, Options{}, negation(), doubling())
	c, other := l.engine.(ane.Chainer), newLinks(t, Options{}, negation())
	require.ErrorIs(t, c.EvaluateChain(t.Context(), nil), ane.ErrLength)
	require.ErrorIs(t, c.EvaluateChain(t.Context(), make([]ane.Invocation, wire.MaxSteps+1)), ane.ErrLength)
	err := c.EvaluateChain(t.Context(), []ane.Invocation{l.steps[0], other.steps[0]})
	require.ErrorIs(t, err, ane.ErrForeign)
	require.ErrorContains(t, err, "step 2 of 2")
	require.ErrorIs(t, c.EvaluateChain(t.Context(), []ane.Invocation{nil}), ane.ErrForeign)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.chain(ctx), ane.ErrDeadline)
	w := newLinks(t, Options{}, wide())
	require.ErrorIs(t, w.chain(t.Context()), ane.ErrExhausted)

	l.fill(t, 1)
	require.NoError(t, l.programs[1].Unload(t.Context()))
	err = l.chain(t.Context())
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	require.ErrorContains(t, err, "step 2 of 2")
	require.Zero(t, l.tensors[1].Bytes()[0]|l.tensors[1].Bytes()[1],
		"the broker checks every step before it runs the first")
	require.NoError(t, l.programs[1].Load(t.Context()))
	require.NoError(t, l.chain(t.Context()))
	require.NoError(t, l.steps[1].Close())
	require.ErrorIs(t, l.chain(t.Context()), ane.ErrClosed)
	require.NoError(t, l.engine.Close())
	require.ErrorIs(t, c.EvaluateChain(t.Context(), l.steps[:1]), ane.ErrClosed)

	shared := newLinks(t, Options{Path: serve(t)}, negation())
	err = shared.chain(t.Context())
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, driverabi.EntitlementDataChaining)
	require.NoError(t, shared.steps[0].Evaluate(t.Context()))
}

// failing is the software engine whose doubling fails.
type failing struct{ ane.Engine }

type failingProgram struct{ ane.Executable }

type failingRun struct{ ane.Invocation }

var errBroken = &ane.Error{Op: "evaluate", Err: ane.ErrEngine, Detail: "the multiplier is broken"}

func (e failing) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := e.Engine.Compile(ctx, src)
	if err != nil || src.File != "doubling.mil" {
		return x, err
	}
	return failingProgram{x}, nil
}

func (x failingProgram) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	return failingRun{v}, err
}

func (failingRun) Evaluate(context.Context) error { return errBroken }

// serveOwner runs a shared broker in this process that grants everything.
func serveOwner(t *testing.T, c server.Config) (path string) {
	path = filepath.Join(t.TempDir(), "anekit", "broker.sock")
	l, err := shared.Listen(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	c.Stay, c.Policy = true, admission.OwnerPolicy()
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, c) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return path
}

// A step that fails ends the chain there: the error says where and why, later steps do not
// run, and the next chain begins again.
func TestChainEndsAtAFault(t *testing.T) {
	path := serveOwner(t, server.Config{Engine: func() ane.Engine { return failing{soft.New()} }})
	l := newLinks(t, Options{Path: path}, negation(), doubling(), negation())
	for range 3 {
		l.fill(t, 5)
		err := l.chain(t.Context())
		require.ErrorIs(t, err, ane.ErrEngine)
		require.ErrorContains(t, err, "step 2 of 3")
		require.ErrorContains(t, err, errBroken.Detail)
		all := l.outputs()
		require.NotEqual(t, make([]byte, len(all[0])), all[0], "step 1 has run")
		require.Equal(t, make([]byte, len(all[2])), all[2], "step 3 has not")
	}
	require.NoError(t, l.steps[2].Evaluate(t.Context()))
	require.Zero(t, counter(t, l.engine, "requests running"))
}

// running waits until the broker of e runs a request.
func running(t testing.TB, e ane.Engine) {
	await.Until(t, "a request runs", func() bool { return counter(t, e, "requests running") == 1 })
}

// A context that ends in the middle of a chain ends it, and its requests can be used again.
func TestChainIsCancelled(t *testing.T) {
	leaktest.SkipEmulated(t)
	after := source("after", square, "y", square+` y = mul(x = x, y = fp16(-0x1p+0))[name = string("y")];`)
	l := newLinks(t, Options{}, after, endless(), after)
	why := errors.New("the user has gone")
	for range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.chain(ctx) }()
		running(t, l.engine)
		cancel(why)
		err := await.Value(t, done)
		require.ErrorIs(t, err, ane.ErrDeadline)
		require.ErrorIs(t, err, why)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, l.steps[0].Evaluate(t.Context()), "it waits until the broker has ended the chain")
		require.Zero(t, counter(t, l.engine, "requests running"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := l.chain(ctx)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, l.steps[2].Evaluate(t.Context()))
}

// A broker that dies in the middle of a chain is an error that says so, and the next chain
// runs at the next broker.
func TestChainOutlivesItsBroker(t *testing.T) {
	leaktest.SkipEmulated(t)
	l := newLinks(t, Options{}, long(1), endless())
	done := make(chan error, 1)
	go func() { done <- l.chain(context.Background()) }()
	running(t, l.engine)
	s, err := l.engine.(*engine).link(t.Context())
	require.NoError(t, err)
	signal(t, s.child.cmd.Process.Pid, unix.SIGKILL)
	require.ErrorIs(t, await.Value(t, done), ane.ErrLost)
	l.steps = l.steps[:1]
	require.NoError(t, l.chain(t.Context()))
	require.Equal(t, 2, starts(l.engine))
}

// Wherever a chain is when its context ends, it ends with the context's error or has run,
// and its requests can be used again.
func TestChainsCancelledAtAnyMoment(t *testing.T) {
	l := newLinks(t, Options{}, negation(), doubling())
	var all sync.WaitGroup
	layout := l.programs[0].Inputs()[0]
	for range 4 {
		in, mid, out := memory(t, layout), memory(t, layout), memory(t, layout)
		var steps []ane.Invocation
		for i, ports := range [][2]*ane.Tensor{{in, mid}, {mid, out}} {
			v, err := l.programs[i].Prepare(ports[:1], ports[1:])
			require.NoError(t, err)
			defer v.Close()
			steps = append(steps, v)
		}
		steps = append(steps, steps...)
		all.Go(func() {
			for range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				err := l.engine.(ane.Chainer).EvaluateChain(ctx, steps)
				if err != nil && !errors.Is(err, ane.ErrDeadline) {
					t.Error(err)
				}
				if err := l.engine.(ane.Chainer).EvaluateChain(context.Background(), steps[:1]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, l.chain(t.Context()))
	require.Zero(t, counter(t, l.engine, "requests running"))
	require.Zero(t, counter(t, l.engine, "requests waiting"))
}
