package resources

import (
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/numerics"
)

// Residents are the programs in memory. A program of one identity is there once, however many clients that may share it
// have compiled it. Different identities never share a program.
type Residents struct {
	driver *driver.Driver
	mu     sync.Mutex
	open   map[ResidentKey]*Resident
	all    int // in open, and purged ones that are in use still
}

// ResidentKey tells residents apart.
type ResidentKey struct {
	Identity string
	Key      Key
	Own      uint64        // number of the connection that shares with no other, or 0
	Mode     numerics.Mode // a part of Key already, unless a client names the key of another mode
}

// Executable is a program of an engine whose panics poison what they were in.
type Executable interface {
	ane.Executable
	driver.Measured
	// Poisoned reports whether the engine panicked in the program, which runs no more.
	Poisoned() bool
	// Stateful reports whether the program keeps states from one run to the next. Such a program is never shared: each
	// handle of each client has its own, since the states belong to it.
	Stateful() bool
}

// Resident is one program. Fields but users are settled once ready is closed.
type Resident struct {
	At       ResidentKey
	Exec     Executable
	resource uint64   // by which the driver knows it
	weights  []string // the names of the files that it was made of
	held     Needs    // until it is released, of each client that has it
	lent     []share
	users    int
	ready    chan struct{}
	err      error
}

// NewResidents makes the table of the programs that a driver knows.
func NewResidents(d *driver.Driver) *Residents {
	return &Residents{driver: d, open: map[ResidentKey]*Resident{}}
}

// Acquire returns the program of a key, made by compile unless it is there. Several callers wait for one compile. If
// its own caller gave up, lacked the budget or was denied, another one compiles. So does each caller of a program with
// states, which is never shared. Release must follow.
func (r *Residents) Acquire(ctx context.Context, at ResidentKey,
	compile func(*Resident) error) (p *Resident, shared bool, err error) {
	for {
		r.mu.Lock()
		p, shared = r.open[at], true
		if p == nil || p.settled() && p.err == nil && p.Exec.Poisoned() {
			p, shared = &Resident{At: at, ready: make(chan struct{})}, false
			r.open[at] = p
			r.all++
		}
		p.users++
		r.mu.Unlock()
		if !shared {
			r.fill(p, compile)
		}
		select {
		case <-p.ready:
		case <-ctx.Done():
			return nil, false, errors.Join(ane.Deadline("compile", Name, ctx.Err()), r.Release(p))
		}
		again := shared && (errors.Is(p.err, ane.ErrDeadline) || errors.Is(p.err, ane.ErrExhausted) ||
			errors.Is(p.err, ane.ErrDenied) || p.err == nil && p.Exec.Stateful())
		if p.err == nil && !again {
			return p, shared, nil
		}
		if err := r.Release(p); err != nil || !again {
			return nil, false, errors.Join(p.err, err)
		}
		if ctx.Err() != nil {
			return nil, false, ane.Deadline("compile", Name, ctx.Err())
		}
	}
}

// fill compiles and makes the program known to the driver.
func (r *Residents) fill(p *Resident, compile func(*Resident) error) {
	defer close(p.ready)
	p.err = compile(p)
	if p.err == nil {
		p.resource, p.err = r.driver.AddProgram(p.Exec)
	}
	if p.err != nil || p.Exec.Stateful() {
		r.forget(func(at ResidentKey, x *Resident) bool { return x == p }) // before another compile can find it
	}
}

// forget makes programs not found any more. Their users keep them.
func (r *Residents) forget(which func(ResidentKey, *Resident) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.open, which)
}

// Purge hides the programs of an identity, or that of one key, from later compiles. An empty identity means all
// identities. Clients that run them go on until they release them.
func (r *Residents) Purge(identity string, k *Key) {
	r.forget(func(at ResidentKey, p *Resident) bool {
		return (identity == "" || at.Identity == identity) && (k == nil || at.Key == *k) && p.settled()
	})
}

// settled reports whether the compile has ended.
func (p *Resident) settled() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// Made sets the result of a compile: the program, and the charge of each client that has it, besides what the engine
// takes. The program lies in src, and in the files of up if that holds them.
func (p *Resident) Made(exec Executable, src *Source, up *Upload) {
	p.Exec, p.weights = exec, src.names()
	held, _, _ := exec.Footprint()
	p.held[Memory] = held + src.bytes()
	if src == &up.Source && up.files.users.Load() > 1 { // the engine computes with what they hold
		p.held = p.held.plus(up.files.needs())
		p.lent = up.shares()
		for _, s := range p.lent {
			p.held[Memory] -= s.needs[Memory]
		}
	}
}

// shares are the charge of each client that holds the program. All of the client's handles count once, and so do
// weights that several of its programs share. A program that several clients share counts for each of them.
func (p *Resident) shares() []share {
	return append([]share{{shareKey{program: p}, p.held}}, p.lent...)
}

// scratch is what an engine takes for the program of each client that has it loaded.
func (p *Resident) scratch() (n Needs) {
	if _, loaded, _ := p.Exec.Footprint(); loaded > 0 {
		n = Needs{Mappings: 1, Descriptors: 1, Memory: loaded}
	}
	return n
}

// hold counts one more user of a program that has some.
func (r *Residents) hold(p *Resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.users++
}

// Release counts one user less, and frees the program with the last.
func (r *Residents) Release(p *Resident) error {
	r.mu.Lock()
	p.users--
	last := p.users == 0
	if last {
		r.all--
		if r.open[p.At] == p {
			delete(r.open, p.At)
		}
	}
	r.mu.Unlock()
	if !last || p.Exec == nil {
		return nil
	}
	if p.resource != 0 {
		if err := r.driver.Remove(p.resource); err != nil {
			return err // the driver uses it still: freeing it would pull it from under a run
		}
	}
	return p.Exec.Close()
}

// Count is how many programs are in memory.
func (r *Residents) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}
