package dlpack

import (
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// exports is the mutable state of the package: the managed tensors that foreign code may have. They stay at their
// addresses for the life of the process; a deleted one is used again, the last one first.
type exports struct {
	mu    sync.Mutex
	all   []*export
	free  *export // nil for none
	stats Stats

	once     sync.Once
	deleters deleters
	failed   error
}

var process exports

// deleters are the addresses of the two C functions that end exports. They are made once, because the number of such
// addresses in a process is limited.
type deleters struct{ versioned, legacy uintptr }

// export begins with what foreign code reads.
type export struct {
	managed          ManagedTensorVersioned // or ManagedTensor, which is smaller
	lengths, strides [ane.MaxRank]int64

	first   uintptr       // address of the first element
	number  uintptr       // place in all, from 1
	block   *unimem.Block // nil for a free export
	deleted func()
	form    form
	next    *export // the next free one
}

// form is the format of an export.
type form uint8

const (
	versioned form = iota
	legacy
)

// start makes the deleters.
func (p *exports) start() error {
	p.once.Do(func() { p.deleters, p.failed = entryPoints() })
	return p.failed
}

// take returns an unused export.
func (p *exports) take(b *unimem.Block, deleted func(), f form) *export {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.free
	if e == nil {
		e = &export{number: uintptr(len(p.all) + 1)}
		p.all = append(p.all, e)
	}
	p.free = e.next
	p.stats.Exported++
	e.block, e.deleted, e.form = b, deleted, f
	return e
}

// end frees the export at address and releases its Block. It counts an address that is no export of this form.
func (p *exports) end(address uintptr, f form) {
	var number uintptr
	if f == versioned {
		number = At(address).ManagerCtx
	} else {
		number = AtLegacy(address).ManagerCtx
	}
	p.mu.Lock()
	var e *export
	if number > 0 && number <= uintptr(len(p.all)) {
		e = p.all[number-1]
	}
	if e == nil || e.block == nil || e.form != f || e.managed.Address() != address {
		p.stats.Refused++
		p.mu.Unlock()
		return
	}
	b, deleted := e.block, e.deleted
	e.block, e.deleted, e.next = nil, nil, p.free
	p.free = e
	p.stats.Exported--
	p.mu.Unlock()
	b.Release()
	if deleted != nil {
		deleted()
	}
}

// delete calls a deleter, directly if it is one of this package.
func (p *exports) delete(deleter, address uintptr) {
	switch {
	case deleter == 0 || p.start() != nil:
	case deleter == p.deleters.versioned:
		p.end(address, versioned)
	case deleter == p.deleters.legacy:
		p.end(address, legacy)
	default:
		call(deleter, address)
	}
}
