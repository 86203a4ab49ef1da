//go:build !macrules

package server

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/models"
)

// adapt asks for an instance with weights of its own.
func (p *peer) adapt(program uint32, weights map[string][]byte, args wire.Arguments) (c wire.Compiled, err error) {
	q := wire.Instance{Program: program, Args: args}
	var parts [][]byte
	at := uint64(0)
	for name, data := range weights {
		q.Weights = append(q.Weights, wire.Weight{Name: name, Offset: at, Size: uint64(len(data))})
		parts = append(parts, data)
		at += uint64(len(data))
	}
	f, err := wire.Seal("weights", parts...)
	if err != nil {
		return c, err
	}
	defer f.Close()
	return c, p.ask(wire.KindInstance, &q, &c, int(f.Fd()))
}

// TestInstances have weights of their own on a base that is loaded.
func TestInstances(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	m := model(t, "conv-1x1")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	fillAll(t, r, m)
	require.NoError(t, p.evaluate(r, 0))
	before := append([]byte(nil), r.out[0].Bytes()...)

	own := map[string][]byte{}
	for name, data := range m.Weights {
		own[name] = append([]byte(nil), data...)
		clear(own[name][len(data)/2:]) // values, not headers
	}
	c, err := p.adapt(r.program, own, wire.Arguments{PowerSaving: true, KeepWired: true, QueueDepth: 3})
	require.NoError(t, err)
	var l wire.Loaded
	require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &l))
	i, err := p.tie(c)
	require.NoError(t, err)
	copy(i.in[0].Bytes(), r.in[0].Bytes())
	require.NoError(t, p.evaluate(i, 0))
	require.NotEqual(t, before, i.out[0].Bytes(), "the adapter's weights")
	require.NoError(t, p.evaluate(r, 0))
	require.Equal(t, before, r.out[0].Bytes(), "the base's are as they were")

	require.EqualValues(t, 1, p.counter(t, "instances"))
	_, err = p.adapt(r.program, map[string][]byte{"@model_path/other": nil}, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrName)
	_, err = p.adapt(c.Program, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrNotLoaded, "an instance is no base")
	_, err = p.adapt(99, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrForeign)
	_, err = p.adapt(r.program, map[string][]byte{"@model_path/weights/weight.bin": []byte("short")}, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrCompile)

	require.NoError(t, p.ask(wire.KindUnbind, &wire.Unbind{Request: i.request}, &wire.Empty{}))
	require.NoError(t, p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}))
	require.Zero(t, b.driver.Stats().Instances)
	require.NoError(t, p.ask(wire.KindUnload, &wire.Unload{Program: r.program}, &wire.Empty{}))
	_, err = p.adapt(r.program, own, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrNotLoaded)

	denied := b.join(alice, driverabi.Unrestricted)
	err = denied.ask(wire.KindInstance, &wire.Instance{}, &wire.Compiled{})
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, driverabi.EntitlementAdapterWeight)
}

// counting is the software engine with a count of what it compiled and linked.
type counting struct {
	ane.Engine
	compiles, linked atomic.Int64
	plain            bool // its programs make no instances themselves
}

type countingExec struct {
	ane.Executable
	driver.Instancer
	of *counting
}

func (c *counting) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	c.compiles.Add(1)
	x, err := c.Engine.Compile(ctx, src)
	if err != nil || c.plain {
		return struct{ ane.Executable }{x}, err
	}
	return countingExec{x, x.(driver.Instancer), c}, nil
}

func (x countingExec) NewInstance(ctx context.Context, w ane.Weights) (ane.Executable, error) {
	x.of.linked.Add(1)
	return x.Instancer.NewInstance(ctx, w)
}

// TestInstancesCompileNothing: one compile serves a base and all its instances, which
// compute what programs do that were compiled with their weights.
func TestInstancesCompileNothing(t *testing.T) {
	const n = 6
	engine := &counting{Engine: soft.New()}
	b := startBroker(t, Config{Engine: func() ane.Engine { return engine }})
	p := b.join(alice, driverabi.Restricted)
	m := model(t, "conv-3x3")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(4, 4))
	fillAll(t, r, m)
	require.NoError(t, p.evaluate(r, 0))
	before := append([]byte(nil), r.out[0].Bytes()...)

	var adapters []models.Model
	var runs []*run
	for range n {
		own := m
		own.Weights = other(random, m.Weights)
		c, err := p.adapt(r.program, own.Weights, wire.Arguments{})
		require.NoError(t, err)
		require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &wire.Loaded{}))
		i, err := p.tie(c)
		require.NoError(t, err)
		adapters, runs = append(adapters, own), append(runs, i)
	}
	_, err = p.adapt(r.program, nil, wire.Arguments{})
	require.NoError(t, err, "no file differs")
	require.EqualValues(t, 1, engine.compiles.Load())
	require.EqualValues(t, n+1, engine.linked.Load())
	require.EqualValues(t, 1, p.counter(t, "compiles"))
	require.EqualValues(t, n+1, p.counter(t, "instances"))
	require.EqualValues(t, n+1, b.driver.Stats().Created)

	for k, i := range runs {
		fillAll(t, i, m)
		require.NoError(t, p.evaluate(i, 0))
		fresh, err := p.ready(adapters[k], 21)
		require.NoError(t, err)
		fillAll(t, fresh, m)
		require.NoError(t, p.evaluate(fresh, 0))
		require.Equal(t, fresh.out[0].Bytes(), i.out[0].Bytes())
		require.NotEqual(t, before, i.out[0].Bytes())
	}
	require.NoError(t, p.evaluate(r, 0))
	require.Equal(t, before, r.out[0].Bytes(), "the base's are as they were")
}

// TestEngineWithoutInstances: an engine whose programs make no instances has none.
func TestEngineWithoutInstances(t *testing.T) {
	b := startBroker(t, Config{Engine: func() ane.Engine { return &counting{Engine: soft.New(), plain: true} }})
	p := b.join(alice, driverabi.Restricted)
	m := model(t, "conv-3x3")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	_, err = p.adapt(r.program, m.Weights, wire.Arguments{})
	require.ErrorContains(t, err, "the engine cannot give a program other weights")
	require.NoError(t, p.evaluate(r, 0))
}

// TestInstanceMayNotChangeTheProgram: what analysis took from a weight is refused when
// it changes, by the constant's name, and accepted when it does not.
func TestInstanceMayNotChangeTheProgram(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	file := func(axis int32) map[string][]byte {
		var w blob.Writer
		_, err := w.Add(mil.Int32, []byte{byte(axis), 0, 0, 0}, 0)
		require.NoError(t, err)
		return map[string][]byte{"@model_path/axis.bin": w.Bytes()}
	}
	m := models.Model{Name: "axis", Weights: file(0), Text: []byte(`program(1.3)
{
func main<ios18>(tensor<fp16, [4, 4]> x) {
tensor<int32, [1]> axes = const()[val = tensor<int32, [1]>(BLOBFILE(` +
		`path = string("@model_path/axis.bin"), offset = uint64(64)))];
tensor<fp16, [4]> y = reduce_sum(x = x, axes = axes);
} -> (y);
}`)}
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	_, err = p.adapt(r.program, file(1), wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "axis:4:")
	require.ErrorContains(t, err, "axes sets the program's structure")
	_, err = p.adapt(r.program, file(0), wire.Arguments{})
	require.NoError(t, err)
}

// fillAll writes the same values to the inputs of every run.
func fillAll(t *testing.T, r *run, m models.Model) {
	t.Helper()
	for _, x := range r.in {
		l := x.Layout()
		values := make([]float32, l.Elements())
		for i, v := range m.Input(l.Name, l.Elements(), 3) {
			values[i] = float32(v)
		}
		_, err := x.WriteFloat32(values)
		require.NoError(t, err)
	}
}

// other changes the numbers of weight files in their last half, where there are no
// headers, to others between -2 and 2.
func other(r *rand.Rand, weights map[string][]byte) map[string][]byte {
	own := map[string][]byte{}
	for name, data := range weights {
		own[name] = append([]byte(nil), data...)
		for i := len(data) / 4 * 2; i < len(data); i += 2 {
			own[name][i], own[name][i+1] = byte(r.Uint32()), 0x38|byte(r.Uint32()&0x87)
		}
	}
	return own
}

// An instance that is refused before it is made leaves its base to be freed.
func TestInstanceRefusedInTurn(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, driverabi.Restricted)
	m := model(t, "conv-1x1")
	r, err := p.ready(m, 21)
	require.NoError(t, err)
	var c *session
	b.mu.Lock()
	for s := range b.sessions {
		c = s
	}
	b.mu.Unlock()
	for range MaxCompiles {
		c.compiles.asked <- struct{}{}
	}
	_, err = p.adapt(r.program, m.Weights, wire.Arguments{})
	require.ErrorIs(t, err, ane.ErrExhausted)
	for range MaxCompiles {
		<-c.compiles.asked
	}
	_, err = p.adapt(r.program, m.Weights, wire.Arguments{})
	require.NoError(t, err)
	for range maxCompiling { // and one whose client goes while it waits
		c.compiles.doing <- struct{}{}
	}
	q := wire.Instance{Program: r.program}
	_, err = p.post(wire.KindInstance, &q)
	require.NoError(t, err)
	eventually(t, "it waits", func() bool { return len(c.compiles.asked) == 1 })
	p.close() // startBroker requires that nothing is left
}
