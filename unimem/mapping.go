package unimem

import (
	"sync"
	"sync/atomic"
)

// Mapping is a second mapping of a Block's pages, made from its handle, as another process or an engine makes it. It
// keeps the Block open until its Close. All methods are safe for concurrent use.
type Mapping struct {
	block  *Block
	mem    []byte
	closed atomic.Bool
}

// again is the second mapping of a Block, which all its Mappings share.
type again struct {
	mu    sync.Mutex
	users int
	mem   []byte
	unmap func() error
}

// acquire adds a user, for the first of which it maps the pages.
func (a *again) acquire(from backing) (_ []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users == 0 {
		if a.mem, a.unmap, err = from.remap(); err != nil {
			return nil, err
		}
	}
	a.users++
	return a.mem, nil
}

// release removes a user, after the last of which it unmaps the pages.
func (a *again) release() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users--; a.users > 0 {
		return nil
	}
	return a.unmap()
}

// Map makes a Mapping of b, which the caller closes. On Linux it has another address than the Block. All Mappings of a
// Block have the same one: a page that an engine has touched is present for the others. A surface looked up in the
// process that created it has the address of the Block, and so has heap memory.
//
// Errors: ErrClosed, ErrCreate, ErrLock (macOS), ErrExhausted (with one of these two).
func Map(b *Block) (m *Mapping, err error) {
	if err := b.Retain(); err != nil {
		return nil, fail(opMap, b.Size(), ErrClosed, "")
	}
	defer func() {
		if m == nil { // failed, or a function of OnExhausted panicked
			b.Release()
		}
	}()
	return recovering(func() (*Mapping, error) {
		mem, err := b.again.acquire(b.back)
		if err != nil {
			return nil, err
		}
		process.mappings.Add(1)
		return &Mapping{block: b, mem: mem}, nil
	})
}

// opMap is Error.Op of Map.
const opMap = "map"

// Bytes is the whole memory, nil after Close.
func (m *Mapping) Bytes() []byte {
	if m == nil || m.closed.Load() {
		return nil
	}
	return m.mem
}

// Close removes the Mapping, once; repeating it returns nil. The error is ErrRelease if the system refuses to unmap it.
func (m *Mapping) Close() error {
	if m == nil || m.block == nil || !m.closed.CompareAndSwap(false, true) {
		return nil
	}
	err := m.block.again.release()
	process.mappings.Add(-1)
	m.block.Release()
	if err != nil {
		return because("unmap", len(m.mem), ErrRelease, err, "")
	}
	return nil
}
