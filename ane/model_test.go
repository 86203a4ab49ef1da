package ane_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

var background = context.Background()

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(background)
	cancel()
	return ctx
}

func TestStates(t *testing.T) {
	f := adder(t)
	loads := 0
	f.load = func(context.Context) error { loads++; return nil }
	f.unload = func(context.Context) error { loads--; return nil }
	d := device(t, f)
	m, err := d.Compile(background, anySource)
	require.NoError(t, err)
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	require.NoError(t, m.Unload(background))
	require.Equal(t, 0, loads)
	for range 2 {
		require.NoError(t, m.Load(background))
		require.Equal(t, 1, loads)
	}
	r, err := m.Bind(tensors(t, m.Inputs()), tensors(t, m.Outputs()))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, m.Unload(background))
		require.Equal(t, 0, loads)
	}
	_, err = m.Evaluate(background, r)
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	require.NoError(t, m.Load(background))
	_, err = m.Evaluate(background, r)
	require.NoError(t, err)

	require.ErrorIs(t, m.Close(background), ane.ErrInUse)
	require.ErrorContains(t, m.Close(background), "open requests: 1")
	require.ErrorIs(t, d.Close(), ane.ErrInUse)
	require.ErrorContains(t, d.Close(), "open models: 1")
	_, err = m.Evaluate(background, r)
	require.NoError(t, err, "a refused Close changes nothing")

	require.NoError(t, r.Close())
	_, err = m.Evaluate(background, r)
	require.ErrorIs(t, err, ane.ErrClosed)
	for range 2 {
		require.NoError(t, m.Close(background))
		require.Equal(t, 0, loads, "Close unloads")
	}
	require.ErrorIs(t, m.Load(background), ane.ErrClosed)
	require.ErrorIs(t, m.Unload(background), ane.ErrClosed)
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrClosed)
	_, err = m.Evaluate(background, r)
	require.ErrorIs(t, err, ane.ErrClosed)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	_, err = d.Compile(background, anySource)
	require.ErrorIs(t, err, ane.ErrClosed)
}

func TestForeignRequests(t *testing.T) {
	m, other := model(t, adder(t)), model(t, adder(t))
	_, err := m.Evaluate(background, request(t, other))
	require.ErrorIs(t, err, ane.ErrForeign)
	_, err = m.Evaluate(background, nil)
	require.ErrorIs(t, err, ane.ErrForeign)
	_, err = m.Evaluate(background, &ane.Request{})
	require.ErrorIs(t, err, ane.ErrForeign)
}

func TestEndedContexts(t *testing.T) {
	f := adder(t)
	d := device(t, f)
	_, err := d.Compile(ended(), anySource)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.Canceled)
	m := model(t, adder(t))
	require.NoError(t, m.Unload(background))
	require.ErrorIs(t, m.Load(ended()), ane.ErrDeadline)
	require.NoError(t, m.Load(background))
	_, err = m.Evaluate(ended(), request(t, m))
	require.ErrorIs(t, err, ane.ErrDeadline)
}

func TestErrorsOfTheEngine(t *testing.T) {
	f := adder(t)
	bad := errors.New("bad")
	f.refuse = bad
	d := device(t, f)
	_, err := d.Compile(background, anySource)
	require.ErrorIs(t, err, bad)
	f.refuse = nil
	m, err := d.Compile(background, anySource)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(background)) }()
	f.load = func(context.Context) error { return bad }
	require.ErrorIs(t, m.Load(background), bad)
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	f.load = nil
	require.NoError(t, m.Load(background))
	r := request(t, m)
	defer func() { require.NoError(t, r.Close()) }()
	f.unload = func(context.Context) error { return bad }
	require.ErrorIs(t, m.Unload(background), bad)
	_, err = m.Evaluate(background, r)
	require.NoError(t, err, "still loaded")
	f.unload = nil
	f.evaluate = func(context.Context) error { return bad }
	res, err := m.Evaluate(background, r)
	require.ErrorIs(t, err, bad)
	require.Equal(t, "fake", res.Receipt.Engine)
}

// held makes evaluations of f wait until release is called; started receives one value
// for each.
func held(f *fake) (started chan struct{}, release func()) {
	started, gate := make(chan struct{}, 64), make(chan struct{})
	f.evaluate = func(context.Context) error {
		started <- struct{}{}
		<-gate
		return nil
	}
	return started, func() { close(gate) }
}

func TestUnloadWaits(t *testing.T) {
	f := adder(t)
	m := model(t, f)
	r, second := request(t, m), request(t, m)
	started, release := held(f)
	done := make(chan error, 1)
	go func() { _, err := m.Evaluate(background, r); done <- err }()
	<-started

	_, err := m.Evaluate(background, r)
	require.ErrorIs(t, err, ane.ErrBusy)
	require.ErrorIs(t, r.Close(), ane.ErrBusy)

	err = m.Unload(ended())
	require.ErrorIs(t, err, ane.ErrDeadline)
	f.evaluate = nil
	_, err = m.Evaluate(background, second)
	require.NoError(t, err, "after an Unload that ended with its context the model is loaded")

	ctx, cancel := context.WithCancel(background)
	unloaded := make(chan error, 1)
	unloading := make(chan struct{})
	go func() { close(unloading); unloaded <- m.Unload(ctx) }()
	<-unloading
	for { // until Unload has shut the gate
		if _, err := m.Evaluate(background, second); errors.Is(err, ane.ErrNotLoaded) {
			break
		}
	}
	require.ErrorIs(t, m.Load(ended()), ane.ErrDeadline, "waiting for a turn ends with the context")
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrNotLoaded, "Bind does not wait")
	select {
	case err := <-unloaded:
		t.Fatalf("Unload returned %v during an evaluation", err)
	default:
	}
	release()
	require.NoError(t, <-done)
	require.NoError(t, <-unloaded)
	cancel()
	require.NoError(t, m.Load(background))
}

// Load, Unload, Bind, Evaluate and Close race; each succeeds or returns a typed error.
func TestRaces(t *testing.T) {
	f := adder(t)
	loaded := make(chan struct{}, 1)
	f.load = func(context.Context) error {
		select {
		case loaded <- struct{}{}:
			return nil
		default:
			return errors.New("loaded twice")
		}
	}
	f.unload = func(context.Context) error { <-loaded; return nil }
	f.evaluate = func(context.Context) error {
		if len(loaded) == 0 {
			return errors.New("evaluated while unloaded")
		}
		return nil
	}
	m := model(t, f)
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	allowed := func(err error) bool {
		return err == nil || errors.Is(err, ane.ErrNotLoaded) || errors.Is(err, ane.ErrBusy) ||
			errors.Is(err, ane.ErrClosed)
	}
	var wg sync.WaitGroup
	faults := make(chan error, 1000)
	check := func(err error) {
		if !allowed(err) {
			faults <- err
		}
	}
	for range 4 {
		wg.Go(func() {
			for range 200 {
				r, err := m.Bind(in, out)
				if check(err); err != nil {
					continue
				}
				_, err = m.Evaluate(background, r)
				check(err)
				check(r.Close())
				_, err = m.Evaluate(background, r)
				check(err)
			}
		})
		wg.Go(func() {
			for range 200 {
				check(m.Unload(background))
				check(m.Load(background))
			}
		})
	}
	wg.Wait()
	close(faults)
	for err := range faults {
		t.Error(err)
	}
	require.NoError(t, m.Load(background))
}

func TestOneRequestManyGoroutines(t *testing.T) {
	f := adder(t)
	inside := make(chan struct{}, 1)
	f.evaluate = func(context.Context) error {
		select {
		case inside <- struct{}{}:
			<-inside
			return nil
		default:
			return errors.New("two runs of one request")
		}
	}
	m := model(t, f)
	r := request(t, m)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if _, err := m.Evaluate(background, r); err != nil && !errors.Is(err, ane.ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestLayoutsAreCopies(t *testing.T) {
	f := adder(t)
	m := model(t, f)
	m.Inputs()[0].Shape[0] = 99
	m.Outputs()[0].Name = "other"
	f.in[1].Shape[1] = 99
	require.Equal(t, []int{2, 5}, m.Inputs()[0].Shape)
	require.Equal(t, []int{2, 5}, m.Inputs()[1].Shape)
	require.Equal(t, "sum", m.Outputs()[0].Name)
}

func TestEvaluateOnClosedMemory(t *testing.T) {
	m := model(t, adder(t))
	g, err := unimem.NewGrid(128, 1, unimem.SurfacePerCell())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	c, err := g.Take()
	require.NoError(t, err)
	in := tensors(t, m.Inputs())
	in["alpha"], err = ane.OnCell(c, m.Outputs()[0])
	require.NoError(t, err)
	r, err := m.Bind(in, tensors(t, m.Outputs()))
	require.NoError(t, err)
	require.ErrorIs(t, g.Close(), unimem.ErrInUse)
	require.NoError(t, g.Give(c))
	for range 2 {
		_, err = m.Evaluate(background, r)
		require.ErrorIs(t, err, ane.ErrStale)
		require.ErrorContains(t, err, "input alpha")
	}
	require.NoError(t, r.Close())
}

func TestCloseThatFails(t *testing.T) {
	f := adder(t)
	m := model(t, f)
	bad := errors.New("bad")
	f.unload = func(context.Context) error { return bad }
	require.ErrorIs(t, m.Close(background), bad)
	f.unload = nil
	_, err := m.Evaluate(background, request(t, m))
	require.NoError(t, err, "a failed Close leaves the model as it was")
}

// Unload and Close that wait for another call end with their context.
func TestWaitingForATurn(t *testing.T) {
	f := adder(t)
	m, err := device(t, f).Compile(background, anySource)
	require.NoError(t, err)
	inside, release := make(chan struct{}), make(chan struct{})
	f.load = func(context.Context) error { close(inside); <-release; return nil }
	done := make(chan error)
	go func() { done <- m.Load(background) }()
	<-inside
	require.ErrorIs(t, m.Unload(ended()), ane.ErrDeadline)
	require.ErrorIs(t, m.Close(ended()), ane.ErrDeadline)
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrNotLoaded)
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, m.Close(background))
}

// Zero values behave like closed ones.
func TestZeroValues(t *testing.T) {
	var d ane.Device
	_, err := d.Compile(background, anySource)
	require.ErrorIs(t, err, ane.ErrClosed)
	require.NoError(t, d.Close())
	require.Zero(t, d.Info())

	var m ane.Model
	require.ErrorIs(t, m.Load(background), ane.ErrClosed)
	require.ErrorIs(t, m.Unload(background), ane.ErrClosed)
	require.NoError(t, m.Close(background))
	_, err = m.Bind(nil, nil)
	require.ErrorIs(t, err, ane.ErrClosed)
	require.Zero(t, m.Receipt())
	require.Empty(t, m.Inputs())

	var r ane.Request
	_, err = m.Evaluate(background, &r)
	require.ErrorIs(t, err, ane.ErrForeign)
	require.NoError(t, r.Close())
	require.Nil(t, access.View(&r, access.Input, "x"))
	require.Nil(t, access.View(&r, access.Output, "y"))
}

// An open request has views, by the program's names.
func TestViews(t *testing.T) {
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(background, ane.Source{Text: []byte(doubling)})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close(background)) }()
	require.NoError(t, m.Load(background))
	in, out := tensors(t, m.Inputs()), tensors(t, m.Outputs())
	r, err := m.Bind(in, out)
	require.NoError(t, err)
	in["x"].Bytes()[3] = 7
	require.Equal(t, byte(7), access.View(r, access.Input, "x")[3])
	access.View(r, access.Output, "y")[4] = 8
	require.Equal(t, byte(8), out["y"].Bytes()[4])
	require.Nil(t, access.View(r, access.Input, "y"))
	require.Nil(t, access.View(r, access.Output, "x"))
	require.NoError(t, r.Close())
	require.Nil(t, access.View(r, access.Input, "x"))
}

// A Close that is refused because of a concurrent Bind changes nothing.
func TestRefusedCloseLeavesTheModelLoaded(t *testing.T) {
	refused := 0
	for range 300 {
		d, err := ane.Open(soft.New(), "")
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), ane.Source{Text: []byte(doubling)})
		require.NoError(t, err)
		require.NoError(t, m.Load(t.Context()))
		x, err := unimem.Open(m.Inputs()[0].Bytes(), unimem.OnHeap())
		require.NoError(t, err)
		y, err := unimem.Open(m.Outputs()[0].Bytes(), unimem.OnHeap())
		require.NoError(t, err)
		in, err := ane.OnBlock(x, m.Inputs()[0])
		require.NoError(t, err)
		out, err := ane.OnBlock(y, m.Outputs()[0])
		require.NoError(t, err)
		closed := make(chan error)
		go func() { closed <- m.Close(context.Background()) }()
		r, bound := m.Bind(map[string]*ane.Tensor{"x": in}, map[string]*ane.Tensor{"y": out})
		if err := <-closed; err != nil {
			refused++
			require.ErrorIs(t, err, ane.ErrInUse)
			require.NoError(t, bound)
			_, err := m.Evaluate(t.Context(), r)
			require.NoError(t, err, "the model is still loaded")
		}
		if bound == nil {
			require.NoError(t, r.Close())
		}
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
		require.NoError(t, x.Close())
		require.NoError(t, y.Close())
	}
	t.Logf("%d of 300 closes were refused", refused)
}
