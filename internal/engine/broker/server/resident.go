package server

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/numerics"
)

// residents are the programs in memory. The same program of the same identity is
// there once, however many of the clients that may share have compiled it; programs of
// different identities are never one.
type residents struct {
	driver *driver.Driver
	mu     sync.Mutex
	open   map[residentKey]*resident
	all    int // in open, and purged ones that are in use still
}

type residentKey struct {
	id  admission.Identity
	key Key
	own uint64 // number of the session that shares with no other, or 0

	mode numerics.Mode // a part of key already, unless a client names the key of another mode
}

// resident is one program. Fields but users are settled once ready is closed.
type resident struct {
	at       residentKey
	exec     ane.Executable
	resource uint64 // by which the driver knows it
	source   int64  // bytes of the text, and of weights that are not in lent
	lent     []share
	files    needs // of the files that it holds
	users    int
	ready    chan struct{}
	err      error
}

// acquire returns the program of a key, made by compile unless it is there. Several
// callers wait for one compile; when that ends because its own caller gave up, or had no
// budget for it, another one compiles. release must follow.
func (r *residents) acquire(ctx context.Context, at residentKey,
	compile func(*resident) (ane.Executable, error)) (p *resident, shared bool, err error) {
	for {
		r.mu.Lock()
		p, shared = r.open[at], true
		if p == nil || p.poisoned() {
			p, shared = &resident{at: at, ready: make(chan struct{})}, false
			r.open[at] = p
			r.all++
		}
		p.users++
		r.mu.Unlock()
		if !shared {
			err := r.fill(p, compile)
			if err != nil {
				return nil, false, errors.Join(err, r.release(p))
			}
			return p, false, nil
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, false, errors.Join(ane.Deadline("compile", Name, ctx.Err()), r.release(p))
		}
		if p.err == nil {
			return p, true, nil
		}
		own := errors.Is(p.err, ane.ErrDeadline) || errors.Is(p.err, ane.ErrExhausted) // the other client's
		if err := r.release(p); err != nil || !own {
			return nil, false, errors.Join(p.err, err)
		}
		if ctx.Err() != nil {
			return nil, false, ane.Deadline("compile", Name, ctx.Err())
		}
	}
}

// fill compiles and makes the program known to the driver.
func (r *residents) fill(p *resident, compile func(*resident) (ane.Executable, error)) error {
	defer close(p.ready)
	p.exec, p.err = compile(p)
	if p.err == nil {
		p.resource, p.err = r.driver.AddProgram(p.exec)
	}
	if p.err != nil {
		r.forget(p) // before another compile can find it
	}
	return p.err
}

// forget makes p not found any more. Its users keep it.
func (r *residents) forget(p *resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[p.at] == p {
		delete(r.open, p.at)
	}
}

// release counts one user less, and frees the program with the last.
func (r *residents) release(p *resident) error {
	r.mu.Lock()
	p.users--
	if p.users > 0 {
		r.mu.Unlock()
		return nil
	}
	if r.open[p.at] == p {
		delete(r.open, p.at)
	}
	r.all--
	r.mu.Unlock()
	if p.exec == nil {
		return nil
	}
	var err error
	if p.resource != 0 {
		err = r.driver.RemoveProgram(p.resource)
	}
	if err != nil {
		return err // the driver uses it still: freeing it would pull it from under a run
	}
	return p.exec.Close()
}

// purge makes programs of an identity, or that of one key, not found any more.
// Clients that run them go on until they release them.
func (r *residents) purge(id admission.Identity, k *Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, p := range r.open {
		if at.id == id && (k == nil || at.key == *k) && p.settled() {
			delete(r.open, at)
		}
	}
}

// purgeAll is purge for all identities.
func (r *residents) purgeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, p := range r.open {
		if p.settled() {
			delete(r.open, at)
		}
	}
}

// settled reports whether the compile has ended.
func (p *resident) settled() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// count is how many programs are in memory.
func (r *residents) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// hold counts one more user of a program that has some.
func (r *residents) hold(p *resident) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.users == 0 {
		return &ane.Error{Op: "instance", Engine: Name, Err: ane.ErrStale, Hint: "compile the base again"}
	}
	p.users++
	return nil
}
