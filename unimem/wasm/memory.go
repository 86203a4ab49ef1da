package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/anekit/anekit/unimem"
)

// Align is the alignment in bytes of the ranges of OnSurface: the page of every supported system divides it.
const Align = unimem.PageSize

// PageSize is the unit in which a guest's memory grows.
const PageSize = 64 << 10

// Memory is the linear memory of one guest. Its methods are safe for concurrent use.
type Memory struct {
	block *unimem.Block
	over  overlay // of block
	limit uint64

	mu       sync.Mutex
	begun    bool       // the guest has its first bytes
	size     uint64     // bytes that the guest has now
	inPlace  []*Region  // open regions of the Block
	surfaces []*surface // mapped over the memory, the oldest first
	freed    bool       // the guest has ended
	copied   int64
}

// Instantiate instantiates a guest with a Memory: a Block of the memory's maximum size, or of limit bytes if that is
// less, in whole pages. A guest that grows beyond it gets -1 of memory.grow. Closing the module closes the Memory.
//
// Errors: ErrLimit (the guest begins with more than limit), those of unimem.Open, and those of
// wazero.Runtime.InstantiateModule, which include a start function that fails.
func Instantiate(ctx context.Context, r wazero.Runtime, code wazero.CompiledModule, config wazero.ModuleConfig,
	limit int) (_ api.Module, _ *Memory, err error) {
	m := &Memory{limit: uint64(max(limit, 0)) / PageSize * PageSize}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case refused:
			err = fault.error
		default:
			m.end()
			panic(fault)
		}
		if err != nil {
			m.end()
		}
	}()
	module, err := r.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocator{m}), code, config)
	if err != nil {
		return nil, nil, err
	}
	return module, m, nil
}

// refused carries an error through wazero, whose allocators return none.
type refused struct{ error }

// allocator makes the one memory of a module, and is that memory for wazero.
type allocator struct{ m *Memory }

// Allocate implements experimental.MemoryAllocator.
func (a allocator) Allocate(_, maximum uint64) experimental.LinearMemory {
	m := a.m
	size := min(maximum, m.limit)
	if size == 0 || m.block != nil {
		return a
	}
	block, err := unimem.Open(int(size))
	if err != nil {
		panic(refused{err})
	}
	m.block, m.over.guest, m.limit = block, block, size
	return a
}

// Reallocate implements experimental.LinearMemory: the memory grows in place, or not at all.
func (a allocator) Reallocate(size uint64) []byte {
	m := a.m
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !m.begun
	m.begun = true
	switch {
	case m.block == nil && size == 0:
		return []byte{}
	case m.freed, size > m.limit, m.block == nil:
		if first {
			panic(refused{fmt.Errorf("wasm: %w: the guest begins with %d bytes, the limit is %d; raise the limit, or build "+
				"the guest with a smaller initial memory", ErrLimit, size, m.limit)})
		}
		return nil
	}
	m.size = size
	return m.block.Bytes()[:size:size]
}

// Free implements experimental.LinearMemory. wazero calls it when the module is closed.
func (a allocator) Free() { a.m.end() }

// end frees the memory of a guest that has ended. Memory that a Region holds is freed when the Region is closed.
func (m *Memory) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed, m.size = true, 0
	_ = m.settle() // Close returns it
}

// settle frees what no Region holds after the guest has ended. The error is unimem.ErrInUse if something is left. The
// caller holds mu.
func (m *Memory) settle() (err error) {
	if m.freed {
		m.surfaces = slices.DeleteFunc(m.surfaces, func(s *surface) bool {
			return s.users == 0 && !errors.Is(s.block.Close(), unimem.ErrInUse)
		})
		if len(m.inPlace) == 0 {
			if err = m.block.Close(); err == nil {
				err = m.over.close()
			}
		}
	}
	if !m.freed || len(m.inPlace) > 0 || len(m.surfaces) > 0 {
		return fmt.Errorf("wasm: %w; close the module and every Region first", unimem.ErrInUse)
	}
	return err
}

// Close frees idle memory of a guest that has ended, and returns nil if all of it is freed. The error is
// unimem.ErrInUse while the guest runs, and while a Region or another user holds the memory. Repeating it after
// success returns nil.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.block == nil {
		return nil
	}
	return m.settle()
}

// Block is the memory that is reserved for the guest; nil for a guest without memory. What lies beyond Size was never
// touched. The Memory owns it.
func (m *Memory) Block() *unimem.Block { return m.block }

// Address is the address of the guest's byte 0. It does not change.
func (m *Memory) Address() uintptr { return m.block.Address() }

// Size is the number of bytes that the guest has now, 0 after its end.
func (m *Memory) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.size)
}

// Reserved is the number of bytes to which the guest can grow.
func (m *Memory) Reserved() int { return m.block.Size() }

// Copied is the number of bytes that OnSurface has moved so far.
func (m *Memory) Copied() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.copied
}

// Range returns a range of the guest's memory in place, with cap equal to len. It is valid until the module is closed:
// use it within a host function, or while the module cannot be closed. The error is ErrBounds, or ErrClosed after the
// guest's end.
func (m *Memory) Range(offset, length uint64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.inside(offset, length); err != nil {
		return nil, err
	}
	return m.block.Bytes()[offset : offset+length : offset+length], nil
}

// Extent is the range from byte From to before byte To, in whole pages.
type Extent struct{ From, To uint64 }

// Touched lists the ranges outside of which the guest's memory is zeros, in the order of From. On Linux those are the
// ranges whose pages exist or that a surface covers, elsewhere all of it. Reading other pages would take memory for
// them.
func (m *Memory) Touched() []Extent {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size == 0 {
		return nil
	}
	ranges, err := touched(m.block, 0, m.size)
	if err != nil {
		return []Extent{{0, m.size}}
	}
	for _, s := range m.surfaces {
		ranges = append(ranges, Extent{s.offset, s.end()})
	}
	slices.SortFunc(ranges, func(a, b Extent) int { return cmp.Compare(a.From, b.From) })
	return ranges
}

// inside checks a range against the memory that the guest has now. The caller holds mu.
func (m *Memory) inside(offset, length uint64) error {
	switch {
	case m.freed:
		return fmt.Errorf("wasm: %w", ErrClosed)
	case offset > m.size || length > m.size-offset:
		return fault(ErrBounds, offset, length, "the guest has %d bytes", m.size)
	}
	return nil
}
