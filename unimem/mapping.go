package unimem

import "sync/atomic"

// Mapping is a second mapping of a Block's pages, made from its handle, as another process or an engine makes it. It
// keeps the Block open until its Close. All methods are safe for concurrent use.
type Mapping struct {
	block  *Block
	mem    []byte
	unmap  func() error
	closed atomic.Bool
}

// Map makes a Mapping of b, which the caller closes. On Linux it has another address. A surface looked up in the
// process that created it has the same address, and so has heap memory.
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
		mem, unmap, err := b.back.remap()
		if err != nil {
			return nil, err
		}
		process.mappings.Add(1)
		return &Mapping{block: b, mem: mem, unmap: unmap}, nil
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
	if m == nil || m.unmap == nil || !m.closed.CompareAndSwap(false, true) {
		return nil
	}
	err := m.unmap()
	process.mappings.Add(-1)
	m.block.Release()
	if err != nil {
		return because("unmap", len(m.mem), ErrRelease, err, "")
	}
	return nil
}
