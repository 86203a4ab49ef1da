package ane

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/unimem"
)

// Pool lends the requests of a Model to goroutines, each to one at a time. Its methods
// are safe for concurrent use.
type Pool struct {
	model *Model
	free  chan *Request // has capacity for all
	made  int
	done  chan struct{} // closed by Close

	mu     sync.Mutex // serializes Close
	closed bool
}

// NewPool makes n requests, each by NewRequest with its own surfaces. After an error no
// request remains. n is at least 1, otherwise the error is ErrLength.
func (m *Model) NewPool(ctx context.Context, n int, opts ...unimem.Option) (*Pool, error) {
	m = orZero(m)
	if n < 1 {
		return nil, m.fail("pool", ErrLength, fmt.Sprintf("%d requests", n), "ask for at least one")
	}
	p := &Pool{model: m, free: make(chan *Request, n), done: make(chan struct{})}
	for range n {
		r, err := m.NewRequest(ctx, opts...)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		r.pool = p
		r.state.Store(pooled)
		p.made++
		p.free <- r
	}
	return p, nil
}

// Get lends a request. It waits while all are lent. The tensors have the values of the
// last borrower. The caller returns the request by Put, once. The error matches ErrClosed
// after Close, or ErrDeadline if ctx ended first.
func (p *Pool) Get(ctx context.Context) (*Request, error) {
	p, ctx = orZero(p), given(ctx)
	if p.model == nil {
		return nil, orZero(p.model).fail("get", ErrClosed, "", "make another pool")
	}
	select {
	case r := <-p.free:
		return r.lend(), nil
	default:
	}
	select {
	case r := <-p.free:
		return r.lend(), nil
	case <-p.done:
		return nil, p.model.fail("get", ErrClosed, "", "make another pool")
	case <-ctx.Done():
		return nil, Deadline("get", p.model.engine(), ctx.Err())
	}
}

func (r *Request) lend() *Request {
	r.state.Store(idle)
	return r
}

// Put returns a request that Get lent. The error is ErrForeign for a request that this
// pool has not lent, or that was returned already; ErrBusy while it is in flight. A
// caller must not use a request after Put: the calls return ErrForeign only until the pool
// lends it again.
func (p *Pool) Put(r *Request) error {
	p = orZero(p)
	if r == nil || p.model == nil || r.pool != p {
		return orZero(p.model).fail("put", ErrForeign, "a request that this pool did not make", "close it instead")
	}
	if err := r.claim("put", pooled); err != nil {
		return err
	}
	p.free <- r // does not block: r was lent
	return nil
}

// Close closes the requests and makes waiting calls of Get return ErrClosed. The error is
// ErrInUse while a request is lent; then Close changes nothing. Repeated calls do nothing.
func (p *Pool) Close() error {
	p = orZero(p)
	if p.model == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	var back []*Request
	for range p.made {
		select {
		case r := <-p.free:
			back = append(back, r)
		default:
		}
	}
	if lent := p.made - len(back); lent > 0 {
		for _, r := range back {
			p.free <- r
		}
		return p.model.fail("close", ErrInUse, fmt.Sprintf("lent requests: %d", lent), "put them first")
	}
	p.closed = true
	close(p.done)
	var errs []error
	for _, r := range back {
		errs = append(errs, r.lend().close())
	}
	return errors.Join(errs...)
}
