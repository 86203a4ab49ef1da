package resources

import (
	"fmt"
	"sync"

	"github.com/anekit/anekit/ane"
)

// What the process has only so much of.
const (
	Mappings = iota
	Descriptors
	Memory // bytes
	kinds
)

// Needs is what a thing takes of each.
type Needs [kinds]int64

func (n Needs) plus(m Needs) Needs {
	for kind := range n {
		n[kind] += m[kind]
	}
	return n
}

// Budget is what there is of one kind. A client has at most Each, and all clients have at most Total. Each client gets
// its floor, whatever the others have taken. The floors divide half of Total evenly, and the rest is the pool.
type Budget struct {
	What, hint        string
	Each, Total, Used int64
	Refused           uint64
	floor, pool       int64
}

// refusal is the error of taking n beside what a client has, nil if that is there.
func (b *Budget) refusal(op, name string, have, n int64) error {
	if n <= b.room(have) {
		return nil
	}
	b.Refused++
	detail := fmt.Sprintf("%d %s beside %d, at most %d for one client", n, b.What, have, b.Each)
	if n <= b.Each-have {
		detail = fmt.Sprintf("%d %s beside %d of this client and %d of all, at most %d for all", n, b.What, have,
			b.Used, b.Total)
	}
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted, Detail: detail, Hint: b.hint}
}

// room is what a client may take beside what it has.
func (b *Budget) room(have int64) int64 { return min(b.Each-have, max(b.floor-have, 0)+b.pool) }

// charge counts n more of a client, which may be less than none.
func (b *Budget) charge(have, n int64) {
	b.pool -= max(have+n-b.floor, 0) - max(have-b.floor, 0)
	b.Used += n
}

// Budgets are those of a broker. One lock guards them, and the accounts.
type Budgets struct {
	mu  sync.Mutex
	all [kinds]Budget
}

// NewBudgets divides what the process has among so many clients.
func NewBudgets(total Needs, clients int) *Budgets {
	b := &Budgets{all: [kinds]Budget{
		Mappings: {What: "mappings", Each: maxMappings,
			hint: "drop surfaces, and unload programs, that are not needed"},
		Descriptors: {What: "descriptors", Each: maxDescriptors,
			hint: "drop surfaces, unload programs, or wait for the compiles in progress"},
		Memory: {What: "bytes of memory", Each: total[Memory],
			hint: "drop large surfaces, release programs, or make them smaller"},
	}}
	for kind := range b.all {
		one := &b.all[kind]
		one.Total = total[kind]
		one.floor = one.Total / 2 / int64(clients)
		one.pool = one.Total - one.floor*int64(clients)
		one.Each = max(one.floor, min(one.Each, one.floor+one.pool))
	}
	return b
}

// Now is what the budgets are at present.
func (b *Budgets) Now() [kinds]Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all
}

// Account is what one client has of each budget.
type Account struct {
	of     *Budgets
	have   Needs
	shared map[shareKey]*shared
}

// Open makes the account of a client. Close follows.
func (b *Budgets) Open() *Account { return &Account{of: b, shared: map[shareKey]*shared{}} }

// Close gives back what is left, when everything that it was charged for has gone.
func (a *Account) Close() { a.Give(a.Have()) }

// Have is what the client has.
func (a *Account) Have() Needs {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.have
}

// Take charges all of n, or nothing: it refuses with the numbers.
func (a *Account) Take(op, name string, n Needs) error {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.take(op, name, n)
}

func (a *Account) take(op, name string, n Needs) error {
	for kind := range n {
		if err := a.of.all[kind].refusal(op, name, a.have[kind], n[kind]); err != nil {
			return err
		}
	}
	a.charge(n, 1)
	return nil
}

// Give takes back n of what was charged.
func (a *Account) Give(n Needs) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.charge(n, -1)
}

func (a *Account) charge(n Needs, sign int64) {
	for kind := range n {
		a.of.all[kind].charge(a.have[kind], sign*n[kind])
		a.have[kind] += sign * n[kind]
	}
}

// Room charges what a compile may have for constants that it computes: at most an eighth of the memory that is left to
// the client.
func (a *Account) Room() (n Needs) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	n[Memory] = max(0, min(maxRoom, a.of.all[Memory].room(a.have[Memory])/8))
	a.charge(n, 1)
	return n
}

// share is what several programs of a client may hold. The client is charged for it once.
type share struct {
	key   shareKey
	needs Needs
}

// shareKey tells shares apart: a program in memory, or a part of a file.
type shareKey struct {
	program       *Resident
	device, inode uint64
	at, size      int
}

// shared is a share that is held.
type shared struct {
	needs Needs
	users int
}

// hold charges own, and of all what no program of the client holds yet. It charges all of it, or nothing.
func (a *Account) hold(op, name string, own Needs, all []share) error {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
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
func (a *Account) release(own Needs, all []share) {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.charge(own.plus(a.unshare(all)), -1)
}

// unshare counts one user less of each. It returns what the last users had.
func (a *Account) unshare(all []share) (free Needs) {
	for _, s := range all {
		h := a.shared[s.key]
		if h.users--; h.users == 0 {
			free = free.plus(h.needs)
			delete(a.shared, s.key)
		}
	}
	return free
}
