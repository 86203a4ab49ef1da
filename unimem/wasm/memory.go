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

	"github.com/anekit/anekit/internal/errtext"
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
	opts  []unimem.Option

	mu       sync.Mutex
	begun    bool       // the guest has its first bytes
	size     uint64     // bytes that the guest has now
	inPlace  []*Region  // open regions of the Block
	surfaces []*surface // mapped over the memory, in no order
	freed    bool       // the guest has ended
	copied   int64
}

// Instantiate instantiates a guest with a Memory: the module's memory is a Block of its maximum size, or of limit bytes
// if that is less, rounded up to PageSize. A guest that grows beyond it gets -1 of memory.grow. opts are options of
// unimem.Open. Closing the module closes the Memory; a guest without memory has a Memory of size 0.
//
// Errors: ErrLimit (the guest begins with more than limit), those of unimem.Open, and those of
// wazero.Runtime.InstantiateModule, which include a start function that fails.
func Instantiate(ctx context.Context, r wazero.Runtime, code wazero.CompiledModule, config wazero.ModuleConfig,
	limit int, opts ...unimem.Option) (_ api.Module, _ *Memory, err error) {
	if limit < PageSize {
		return nil, nil, newError("instantiate", ErrLimit, fmt.Sprintf("a limit of %d bytes", limit),
			fmt.Sprintf("give at least one page, %d bytes", PageSize))
	}
	m := &Memory{limit: uint64(limit) / PageSize * PageSize, opts: opts}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case refused:
			err = fault.error
		default:
			m.Free()
			panic(fault)
		}
		if err != nil {
			m.Free()
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

// allocator makes the one memory of a module.
type allocator struct{ m *Memory }

// Allocate implements experimental.MemoryAllocator.
func (a allocator) Allocate(_, maximum uint64) experimental.LinearMemory {
	m := a.m
	size := min(maximum, m.limit)
	if size == 0 || m.block != nil {
		return m
	}
	block, err := unimem.Open(int(size), m.opts...)
	if err != nil {
		panic(refused{err})
	}
	m.block, m.over.guest, m.limit = block, block, size
	return m
}

// Reallocate implements experimental.LinearMemory: the memory grows in place, or not at all.
func (m *Memory) Reallocate(size uint64) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !m.begun
	m.begun = true
	switch {
	case m.block == nil && size == 0:
		return []byte{}
	case m.freed, size > m.limit, m.block == nil:
		if first {
			panic(refused{newError("instantiate", ErrLimit,
				fmt.Sprintf("the guest begins with %d bytes, the limit is %d", size, m.limit),
				"raise the limit, or build the guest with a smaller initial memory")})
		}
		return nil
	}
	m.size = size
	return m.block.Bytes()[:size:size]
}

// Free implements experimental.LinearMemory. wazero calls it when the module is closed; memory that a Region holds is
// freed when the Region is closed.
func (m *Memory) Free() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freed, m.size = true, 0
	m.settle()
}

// settle frees what no Region holds after the guest has ended. The caller holds mu.
func (m *Memory) settle() {
	if !m.freed {
		return
	}
	var kept []*surface
	for _, s := range m.surfaces {
		if s.users > 0 || errors.Is(s.block.Close(), unimem.ErrInUse) {
			kept = append(kept, s)
		}
	}
	m.surfaces = kept
	if len(m.inPlace) == 0 {
		_ = m.closeBlock() // ErrInUse: a holder other than a Region; Memory.Close returns it
	}
}

// closeBlock frees the guest's memory. Repeating it after success does nothing. The caller holds mu.
func (m *Memory) closeBlock() error {
	if err := m.block.Close(); err != nil {
		return err
	}
	return m.over.close()
}

// Close frees idle memory of a guest that has ended, and returns nil if all of it is freed. The error is
// unimem.ErrInUse while the guest runs, and while a Region or another user holds the memory. Repeating it after
// success returns nil.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	if m.block == nil && len(m.surfaces) == 0 {
		return nil
	}
	if !m.freed || len(m.inPlace) > 0 || len(m.surfaces) > 0 {
		return newError("close", unimem.ErrInUse, "", "close the module and every Region first")
	}
	return m.closeBlock()
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
	if err := m.inside("range", offset, length); err != nil {
		return nil, err
	}
	return m.block.Bytes()[offset : offset+length : offset+length], nil
}

// Extent is the range from byte From to before byte To, in whole pages.
type Extent struct{ From, To uint64 }

// Touched lists the ranges outside of which the guest's memory is zeros, in the order of From: on Linux those whose
// pages exist or that a surface covers, elsewhere all of it. Reading other pages would take memory for them.
func (m *Memory) Touched() []Extent {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.block == nil || m.freed || m.size == 0 {
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
func (m *Memory) inside(op string, offset, length uint64) error {
	switch {
	case m.freed:
		return &Error{Base: errtext.Base{Op: op, Err: ErrClosed}, Offset: offset, Length: length}
	case offset > m.size || length > m.size-offset:
		return &Error{Base: errtext.Base{Op: op, Err: ErrBounds, Detail: fmt.Sprintf("the guest has %d bytes", m.size)},
			Offset: offset, Length: length}
	}
	return nil
}
