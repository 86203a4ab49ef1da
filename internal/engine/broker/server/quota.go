package server

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
)

// quota divides among the clients what the process has only so much of. A client has at most each, all of them
// have at most total, and each of them gets its floor, whatever the others have taken: what they take beyond
// their floors comes out of total less the floors of all.
type quota struct {
	what    string
	hint    string
	total   int64
	each    int64
	floor   int64
	clients int64
	refused atomic.Uint64

	mu     sync.Mutex
	used   int64
	beyond int64 // the floors
}

// divide gives half of total to the floors of so many clients.
func divide(what, hint string, total, each int64, clients int) *quota {
	floor := total / 2 / int64(clients)
	return &quota{what: what, hint: hint, total: total, each: max(floor, min(each, total)), floor: floor,
		clients: int64(clients)}
}

// account is what one client has of a quota, whose lock guards it.
type account struct {
	of   *quota
	have int64
}

// above is what n is beyond the floor.
func (b *quota) above(n int64) int64 { return max(n-b.floor, 0) }

// take charges n to the client. It refuses with the numbers, and charges nothing then.
func (a *account) take(op, name string, n int64) error {
	b := a.of
	b.mu.Lock()
	defer b.mu.Unlock()
	if n <= a.room() {
		b.charge(a, n)
		return nil
	}
	b.refused.Add(1)
	detail := fmt.Sprintf("%d %s beside %d, at most %d for one client", n, b.what, a.have, b.each)
	if n <= b.each-a.have {
		detail = fmt.Sprintf("%d %s beside %d of this client and %d of all, at most %d for all", n, b.what, a.have,
			b.used, b.total)
	}
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted, Detail: detail, Hint: b.hint}
}

// takeUpTo charges what there is of n, at most an eighth of what is left, and returns it.
func (a *account) takeUpTo(n int64) int64 {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	n = max(0, min(n, a.room()/8))
	a.of.charge(a, n)
	return n
}

// give takes back n of what was charged.
func (a *account) give(n int64) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.of.charge(a, -n)
}

// room is what the client may take. The caller holds the lock.
func (a *account) room() int64 {
	b := a.of
	return min(b.each-a.have, max(b.floor-a.have, 0)+b.total-b.floor*b.clients-b.beyond)
}

// charge counts n more. The caller holds the lock.
func (b *quota) charge(a *account, n int64) {
	b.beyond += b.above(a.have+n) - b.above(a.have)
	b.used += n
	a.have += n
}

// held is what the client has.
func (a *account) held() int64 {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.have
}

// held is what all clients have.
func (b *quota) held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// quotas are those of a broker.
type quotas struct {
	mappings, descriptors, memory *quota
}

// newQuotas divides what the process has among so many clients.
func newQuotas(p allowance, clients int) quotas {
	return quotas{
		mappings: divide("mappings", "unbind requests, and unload programs, that are not needed",
			p.mappings, maxMappings, clients),
		descriptors: divide("descriptors", "drop surfaces, unload programs, or wait for the compiles that are out",
			p.files, maxDescriptors, clients),
		memory: divide("bytes of memory", "unbind large surfaces, release programs, or make them smaller",
			p.memory, p.memory, clients),
	}
}

// accounts are what one client has of each quota.
type accounts struct {
	mappings, descriptors, memory account

	mu     sync.Mutex
	shared map[shareKey]*shared
}

func (b *quotas) open() *accounts {
	return &accounts{mappings: account{of: b.mappings}, descriptors: account{of: b.descriptors},
		memory: account{of: b.memory}, shared: map[shareKey]*shared{}}
}

// needs is what a thing takes of each quota.
type needs struct {
	mappings, descriptors, memory int64
}

func (n needs) plus(m needs) needs {
	return needs{n.mappings + m.mappings, n.descriptors + m.descriptors, n.memory + m.memory}
}

// take charges all of n, or nothing.
func (a *accounts) take(op, name string, n needs) error {
	if err := a.memory.take(op, name, n.memory); err != nil {
		return err
	}
	if err := a.descriptors.take(op, name, n.descriptors); err != nil {
		a.memory.give(n.memory)
		return err
	}
	if err := a.mappings.take(op, name, n.mappings); err != nil {
		a.memory.give(n.memory)
		a.descriptors.give(n.descriptors)
		return err
	}
	return nil
}

// give takes all of n back.
func (a *accounts) give(n needs) {
	a.memory.give(n.memory)
	a.descriptors.give(n.descriptors)
	a.mappings.give(n.mappings)
}

// share is what several programs of a client may hold. The client is charged for it once.
type share struct {
	key   shareKey
	needs needs
}

// shareKey tells shares apart: a program in memory, or a part of a file.
type shareKey struct {
	program       *resident
	device, inode uint64
	at, size      int
}

// shared is a share that is held.
type shared struct {
	needs needs
	users int
}

// hold charges own, and of all what no program of the client holds yet. It charges all of it, or nothing.
func (a *accounts) hold(op, name string, own needs, all []share) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range all {
		if a.shared[s.key] == nil {
			a.shared[s.key] = &shared{needs: s.needs}
			own = own.plus(s.needs)
		}
		a.shared[s.key].users++
	}
	err := a.take(op, name, own)
	if err != nil {
		a.unshare(all)
	}
	return err
}

// release undoes hold.
func (a *accounts) release(own needs, all []share) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.give(own.plus(a.unshare(all)))
}

// unshare counts one user less of each. It returns what the last users had. The caller holds the lock.
func (a *accounts) unshare(all []share) (free needs) {
	for _, s := range all {
		h := a.shared[s.key]
		if h.users--; h.users == 0 {
			free = free.plus(h.needs)
			delete(a.shared, s.key)
		}
	}
	return free
}

// close gives back what is left, when everything that it was charged for has gone.
func (a *accounts) close() {
	a.give(needs{a.mappings.held(), a.descriptors.held(), a.memory.held()})
}
