package ane

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/unimem"
)

// Pool lends the requests of a Model to many goroutines, each to one at a time. Its
// methods may be called from several goroutines.
type Pool struct {
	model *Model
	free  chan *Request // has room for all
	made  int
	done  chan struct{} // closed by Close

	mu     sync.Mutex // orders Close
	closed bool
}

// NewPool makes n requests, all or none, as NewRequest does: each with surfaces of its
// own. n is at least 1, otherwise ErrLength.
func (m *Model) NewPool(ctx context.Context, n int, opts ...unimem.Option) (*Pool, error) {
	m = m.orZero()
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
		p.made++
		p.free <- r
	}
	return p, nil
}

// Get lends a request, and waits while all are lent. Its tensors hold what the last
// borrower left there. The caller gives it back by Put, once. The error matches ErrClosed
// after Close, or ErrDeadline when ctx ended first.
func (p *Pool) Get(ctx context.Context) (*Request, error) {
	p = p.orZero()
	ctx = given(ctx)
	select {
	case r := <-p.free:
		r.lent.Store(true)
		return r, nil
	default:
	}
	select {
	case r := <-p.free:
		r.lent.Store(true)
		return r, nil
	case <-p.done:
		return nil, p.model.orZero().fail("get", ErrClosed, "", "make another pool")
	case <-ctx.Done():
		return nil, Deadline("get", p.model.orZero().engine(), ctx.Err())
	}
}

// Put gives a request back that Get lent. ErrForeign for one that this pool has not lent,
// or that was given back already; ErrBusy while it is in flight. A request that was given
// back and lent again belongs to its new borrower: an older borrower that puts it again
// cannot be told from the new one.
func (p *Pool) Put(r *Request) error {
	p = p.orZero()
	switch m := p.model.orZero(); {
	case r == nil || p.model == nil || r.pool != p:
		return m.fail("put", ErrForeign, "a request that this pool did not make", "close it instead")
	case r.busy.Load() == flying:
		return m.fail("put", ErrBusy, "", "wait for the run to end")
	case !r.lent.CompareAndSwap(true, false):
		return m.fail("put", ErrForeign, "the request is in the pool already", "give it back once")
	}
	p.free <- r // has room: r was lent
	return nil
}

// Close closes the requests and has waiting calls of Get answer ErrClosed. ErrInUse while
// a request is lent: nothing has changed then. Repeated calls do nothing.
func (p *Pool) Close() error {
	p = p.orZero()
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
		return p.model.fail("close", ErrInUse, fmt.Sprintf("requests that are lent: %d", lent), "give them back first")
	}
	p.closed = true
	close(p.done)
	var errs []error
	for _, r := range back {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}

// orZero answers for nil as the zero value does: closed.
func (p *Pool) orZero() *Pool {
	if p == nil || p.model == nil {
		closed := make(chan struct{})
		close(closed)
		return &Pool{done: closed}
	}
	return p
}
