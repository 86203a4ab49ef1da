package dlpack

import (
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// exports is the mutable state of the package: the managed tensors that foreign code may have. They
// stay at their addresses for the life of the process; a deleted one is used again, the last one
// first.
type exports struct {
	mu     sync.Mutex
	chunks []*chunk
	free   uintptr // number of the first free export, 0 for none
	live   int64
	refuse atomic.Int64

	once     sync.Once
	deleters deleters
	failed   error
}

var process exports

// deleters are the addresses of the two C functions that end exports. They are made once, because
// the number of such addresses in a process is limited.
type deleters struct{ versioned, legacy uintptr }

// export is what foreign code reads. It has no Go pointer.
type export struct {
	managed          ManagedTensorVersioned // or ManagedTensor, which is smaller
	lengths, strides [ane.MaxRank]int64
}

// owner is the Go side of an export.
type owner struct {
	block   *unimem.Block
	deleted func()
	form    form
	next    uintptr // the next free export, while this one is free
}

// form is the format of an export.
type form uint8

const (
	unused form = iota
	versioned
	legacy
)

const perChunk = 64

type chunk struct {
	exports *[perChunk]export // an allocation of its own, without Go pointers
	owners  [perChunk]owner
}

// entries returns the deleters.
func (p *exports) entries() (*deleters, error) {
	p.once.Do(func() { p.deleters, p.failed = entryPoints() })
	return &p.deleters, p.failed
}

// take returns an unused export and its number, which is at least 1.
func (p *exports) take(b *unimem.Block, deleted func(), f form) (*export, uintptr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == 0 {
		p.grow()
	}
	number := p.free
	c, i := p.chunks[(number-1)/perChunk], (number-1)%perChunk
	o := &c.owners[i]
	p.free = o.next
	p.live++
	o.block, o.deleted, o.form = b, deleted, f
	return &c.exports[i], number
}

// grow adds a chunk of free exports.
func (p *exports) grow() {
	c := &chunk{exports: new([perChunk]export)}
	p.chunks = append(p.chunks, c)
	last := uintptr(len(p.chunks) * perChunk)
	for i := perChunk - 1; i >= 0; i-- {
		c.owners[i].next = p.free
		p.free = last - perChunk + 1 + uintptr(i)
	}
}

// end frees the export at address and releases its Block. It counts an address that is no
// export of this form.
func (p *exports) end(address uintptr, f form) {
	var number uintptr
	if f == versioned {
		number = At(address).ManagerCtx
	} else {
		number = AtLegacy(address).ManagerCtx
	}
	p.mu.Lock()
	o := p.owner(number, address, f)
	if o == nil {
		p.mu.Unlock()
		p.refuse.Add(1)
		return
	}
	b, deleted := o.block, o.deleted
	*o = owner{next: p.free}
	p.free = number
	p.live--
	p.mu.Unlock()
	b.Release()
	if deleted != nil {
		deleted()
	}
}

// owner returns the Go side of an export, nil if there is none of this number, address and form.
func (p *exports) owner(number, address uintptr, f form) *owner {
	if number == 0 || number > uintptr(len(p.chunks)*perChunk) {
		return nil
	}
	c, i := p.chunks[(number-1)/perChunk], (number-1)%perChunk
	if o := &c.owners[i]; o.form == f && c.exports[i].managed.Address() == address {
		return o
	}
	return nil
}

// delete calls a deleter, without the way through C if it is one of this package.
func (p *exports) delete(deleter, address uintptr) {
	switch d, err := p.entries(); {
	case deleter == 0 || err != nil:
	case deleter == d.versioned:
		p.end(address, versioned)
	case deleter == d.legacy:
		p.end(address, legacy)
	default:
		call(deleter, address)
	}
}

func (p *exports) stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{Exported: p.live, Refused: p.refuse.Load()}
}
