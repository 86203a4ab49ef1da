package ane_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

func TestPoolLendsEachRequestOnce(t *testing.T) {
	m := model(t, adder(t))
	before := unimem.Live().Blocks
	p, err := m.NewPool(t.Context(), 2)
	require.NoError(t, err)
	a, err := p.Get(t.Context())
	require.NoError(t, err)
	b, err := p.Get(t.Context())
	require.NoError(t, err)
	require.NotSame(t, a, b)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = p.Get(over)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.ErrorIs(t, err, context.Canceled)

	require.ErrorIs(t, a.Close(), ane.ErrInUse, "the pool owns it")
	require.ErrorIs(t, p.Close(), ane.ErrInUse)
	got := make(chan *ane.Request)
	go func() {
		r, err := p.Get(context.Background())
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	require.NoError(t, p.Put(a))
	require.Same(t, a, <-got)
	require.NoError(t, p.Put(a))
	require.ErrorIs(t, p.Put(a), ane.ErrForeign)
	require.ErrorIs(t, p.Put(nil), ane.ErrForeign)
	require.ErrorIs(t, p.Put(request(t, m)), ane.ErrForeign)
	require.NoError(t, p.Put(b))
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = p.Get(t.Context())
	require.ErrorIs(t, err, ane.ErrClosed)
	require.Equal(t, before+3, unimem.Live().Blocks, "those of the other request remain")
}

func TestPoolRefusesRequestsInFlight(t *testing.T) {
	f := adder(t)
	enter, leave := make(chan struct{}), make(chan struct{})
	f.evaluate = func(context.Context) error { close(enter); <-leave; return nil }
	p, err := model(t, f).NewPool(t.Context(), 1)
	require.NoError(t, err)
	r, err := p.Get(t.Context())
	require.NoError(t, err)
	c := r.EvaluateAsync(t.Context())
	<-enter
	require.ErrorIs(t, p.Put(r), ane.ErrBusy)
	close(leave)
	require.NoError(t, (<-c).Err)
	require.NoError(t, p.Put(r))
	require.NoError(t, p.Close())
}

func TestInvalidPools(t *testing.T) {
	m := model(t, adder(t))
	before := unimem.Live()
	_, err := m.NewPool(t.Context(), 0)
	require.ErrorIs(t, err, ane.ErrLength)
	_, err = m.NewPool(t.Context(), 3, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrOption)
	require.Equal(t, before, unimem.Live())
	for _, p := range []*ane.Pool{nil, {}} {
		_, err = p.Get(t.Context())
		require.ErrorIs(t, err, ane.ErrClosed)
		require.ErrorIs(t, p.Put(nil), ane.ErrForeign)
		require.NoError(t, p.Close())
	}
	_, err = (*ane.Model)(nil).NewPool(t.Context(), 1)
	require.ErrorIs(t, err, ane.ErrClosed)
}

// Waiting calls of Get return ErrClosed if Close comes when every request was put.
// Close races with callers that take and return the only request. A borrower stops after Close
// was refused a thousand times: borrowers that never pause can keep the request lent for ever.
func TestPoolCloseAmongBorrowers(t *testing.T) {
	m := model(t, adder(t))
	p, err := m.NewPool(t.Context(), 1)
	require.NoError(t, err)
	var wg sync.WaitGroup
	var tired atomic.Bool
	for range 8 {
		wg.Go(func() {
			for !tired.Load() {
				r, err := p.Get(context.Background())
				if err != nil {
					if !errors.Is(err, ane.ErrClosed) {
						t.Error(err)
					}
					return
				}
				if err := p.Put(r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := 0; ; i++ {
		err := p.Close()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, ane.ErrInUse)
		tired.Store(i >= 1000)
	}
	wg.Wait()
	_, err = p.Get(context.Background())
	require.ErrorIs(t, err, ane.ErrClosed)
}

// A request in its Pool refuses the calls of a former borrower until it is lent again.
func TestReturnedRequests(t *testing.T) {
	m := model(t, adder(t))
	p, err := m.NewPool(t.Context(), 1)
	require.NoError(t, err)
	r, err := p.Get(t.Context())
	require.NoError(t, err)
	inspect := func() error { return r.Inspect(func(*ane.Model, ane.Invocation) {}) }
	require.NoError(t, inspect())
	require.NoError(t, r.Inspect(nil))
	require.NoError(t, p.Put(r))
	for name, err := range map[string]error{
		"inspect": inspect(), "evaluate": second2(r.Evaluate(t.Context())), "qos": r.SetQoS(ane.QoSDefault),
		"async": (<-r.EvaluateAsync(t.Context())).Err, "put": p.Put(r),
	} {
		require.ErrorIs(t, err, ane.ErrForeign, name)
		require.ErrorContains(t, err, "the request is in its Pool", name)
	}
	again, err := p.Get(t.Context())
	require.NoError(t, err)
	require.Same(t, r, again)
	require.NoError(t, second2(r.Evaluate(t.Context())))
	require.NoError(t, p.Put(r))
	require.NoError(t, p.Close())
	require.ErrorIs(t, inspect(), ane.ErrClosed)
	require.ErrorIs(t, (&ane.Request{}).Inspect(nil), ane.ErrClosed)
}

func second2(_ ane.Result, err error) error { return err }

// Every borrower reads the values that it wrote.
func TestPoolUnderLoad(t *testing.T) {
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Text: []byte(doubling)})
	require.NoError(t, err)
	p, err := m.NewPool(t.Context(), 3)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				r, err := p.Get(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				v := float32(g*50 + i)
				err = r.Input("x").Set(v, 0, 0, 1, 2)
				if err == nil {
					if i%2 == 0 {
						_, err = r.Evaluate(context.Background())
					} else {
						err = (<-r.EvaluateAsync(context.Background())).Err
					}
				}
				got, fault := r.Output("y").At(0, 0, 1, 2)
				if err != nil || fault != nil || got != 2*v {
					t.Errorf("%v %v: %v, want %v", err, fault, got, 2*v)
				}
				if err := p.Put(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, p.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}
