package wasm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/unimem"
)

// Region is a range of a guest's memory that an engine may use. Memory.InPlace and Memory.OnSurface make one; its owner
// closes it, after every ane.Request with a tensor on it.
type Region struct {
	memory         *Memory
	surface        *surface // nil in place
	offset, length uint64   // in the guest's memory
	closed         bool
}

// surface is a Block that is mapped over whole pages of the guest's memory.
type surface struct {
	block  *unimem.Block
	offset uint64
	users  int // regions
}

func (s *surface) end() uint64 { return s.offset + uint64(s.block.Size()) }

// Block is the memory of the region's tensor.
func (r *Region) Block() *unimem.Block {
	if r.surface != nil {
		return r.surface.block
	}
	return r.memory.block
}

// Offset is the offset of the region's first byte in Block: 0 on a surface.
func (r *Region) Offset() int {
	if r.surface != nil {
		return 0
	}
	return int(r.offset)
}

// Close ends the use of the region. A surface stays mapped, with what is in it, for the next region of the same range.
// It is unmapped when the guest ends, a region of other pages needs them, or the guest has 64 other surfaces. Repeating
// Close does nothing.
func (r *Region) Close() {
	if r == nil {
		return
	}
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = true
	if r.surface != nil {
		r.surface.users--
	} else {
		m.inPlace = slices.DeleteFunc(m.inPlace, func(other *Region) bool { return other == r })
	}
	_ = m.settle() // Memory.Close returns it
}

// InPlace makes a region of the guest's own Block, for an engine that accepts tensors at an offset.
//
// Errors: ErrBounds, ErrClosed, ErrOverlap (a surface is mapped over part of the range).
func (m *Memory) InPlace(offset, length uint64) (*Region, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.inside(offset, length); err != nil {
		return nil, err
	}
	if err := m.uncover(offset, length); err != nil {
		return nil, err
	}
	r := &Region{memory: m, offset: offset, length: length}
	m.inPlace = append(m.inPlace, r)
	return r, nil
}

// OnSurface makes a region with a Block of its own, mapped over the guest's pages, for an engine that reads every
// surface from byte 0. A region of the same range as another one shares its surface.
//
// Errors: ErrBounds, ErrClosed, ErrAligned (with the multiples to use), ErrOverlap (other pages than those of a surface
// in use, or pages of a region in place), ErrLimit (1,024 surfaces are in use), ErrUnsupported, and those of
// unimem.Open and of the system.
func (m *Memory) OnSurface(offset, length uint64) (*Region, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.inside(offset, length); err != nil {
		return nil, err
	}
	if offset%Align != 0 || length%Align != 0 || length == 0 {
		return nil, fault(ErrAligned, offset, length, "offset and length have to be multiples of %d, the length not 0; use "+
			"offset %d and %d bytes that are the tensor's alone", Align, roundUp(offset), max(roundUp(length), Align))
	}
	at := slices.IndexFunc(m.surfaces, func(s *surface) bool {
		return s.offset == offset && s.end() == offset+length
	})
	if at < 0 {
		if err := m.cover(offset, length); err != nil {
			return nil, err
		}
		at = len(m.surfaces) - 1
	}
	s := m.surfaces[at]
	s.users++
	return &Region{memory: m, surface: s, offset: offset, length: length}, nil
}

func roundUp(n uint64) uint64 { return (n + Align - 1) / Align * Align }

// A surface takes a descriptor and a mapping of the process. From fewIdle surfaces on, a new one unmaps an idle one.
const (
	maxSurfaces = 1024
	fewIdle     = 64
)

// cover maps a new surface over a range. The caller holds mu.
func (m *Memory) cover(offset, length uint64) error {
	if err := m.uncover(offset, length); err != nil {
		return err
	}
	for _, r := range m.inPlace { // an engine that maps the guest's Block by its handle would see other pages
		if r.offset < offset+length && offset < r.offset+r.length {
			return fault(ErrOverlap, offset, length, "bytes %d to %d are a region in place; close the requests that use it "+
				"first", r.offset, r.offset+r.length)
		}
	}
	if len(m.surfaces) >= fewIdle {
		if err := m.unmapOldest(); err != nil {
			return err
		}
	}
	if len(m.surfaces) >= maxSurfaces {
		return fault(ErrLimit, offset, length, "%d surfaces are in use; close requests first", len(m.surfaces))
	}
	block, err := unimem.Open(int(length))
	if err != nil {
		return err
	}
	moved, err := m.over.move(block, offset)
	if err == nil {
		err = m.over.cover(block, offset)
	}
	if err != nil {
		_ = block.Close() // the first failure is the one to report
		return fmt.Errorf("%w: %w", fault(ErrUnsupported, offset, length, "use an engine that accepts tensors at an offset"),
			err)
	}
	m.copied += moved
	m.surfaces = append(m.surfaces, &surface{block: block, offset: offset})
	return nil
}

// uncover unmaps idle surfaces from a range. The caller holds mu.
func (m *Memory) uncover(offset, length uint64) error {
	for i := 0; i < len(m.surfaces); {
		s := m.surfaces[i]
		switch {
		case s.end() <= offset || offset+length <= s.offset:
			i++
		case s.users > 0:
			return fault(ErrOverlap, offset, length, "bytes %d to %d are a surface in use; bind the same range, or one of "+
				"other pages", s.offset, s.end())
		default:
			if err := m.unmap(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmapOldest unmaps the oldest idle surface that no request holds, if there is one. The caller holds mu.
func (m *Memory) unmapOldest() error {
	for i := 0; i < len(m.surfaces); i++ {
		if m.surfaces[i].users > 0 {
			continue
		}
		if err := m.unmap(i); !errors.Is(err, unimem.ErrInUse) {
			return err
		}
	}
	return nil
}

// unmap unmaps idle surface i; what it holds goes back to the guest's Block. The caller holds mu.
func (m *Memory) unmap(i int) error {
	s := m.surfaces[i]
	size := uint64(s.block.Size())
	if err := m.over.uncover(s.offset, size); err != nil {
		return fmt.Errorf("%w: %w", fault(ErrOverlap, s.offset, size, "the surface stays mapped"), err)
	}
	m.copied += int64(copy(m.block.Bytes()[s.offset:s.end()], s.block.Bytes()))
	if err := s.block.Close(); err != nil { // a request outlives its region, and goes on with the surface
		if again := m.over.cover(s.block, s.offset); again != nil {
			err = again
		}
		return fmt.Errorf("%w: %w", fault(ErrOverlap, s.offset, size, "the surface stays mapped; close the requests of a "+
			"region before the region"), err)
	}
	m.surfaces = slices.Delete(m.surfaces, i, i+1)
	return nil
}
