package wasm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// Region is a range of a guest's memory that an engine may use. Memory.InPlace and Memory.OnSurface make one; its owner
// closes it, after every ane.Request with a tensor on it.
type Region struct {
	memory         *Memory
	surface        *surface // nil in place
	offset, length int
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
	return r.offset
}

// Pointer is the offset of the region in the guest's memory.
func (r *Region) Pointer() int { return r.offset }

// Size is the length of the region in bytes.
func (r *Region) Size() int { return r.length }

// Close ends the use of the region. A surface stays mapped for the next region of the same range, with what is in it,
// until the guest ends, a region of other pages needs them, or 64 other ones are idle. Repeating Close does nothing.
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
	m.settle()
}

// InPlace makes a region of the guest's own Block, for an engine that accepts tensors at an offset.
//
// Errors: ErrBounds, ErrClosed, ErrOverlap (a surface is mapped over part of the range).
func (m *Memory) InPlace(offset, length uint64) (*Region, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.inside("region", offset, length); err != nil {
		return nil, err
	}
	if err := m.uncover("region", offset, length); err != nil {
		return nil, err
	}
	r := &Region{memory: m, offset: int(offset), length: int(length)}
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
	const op = "surface"
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.inside(op, offset, length); err != nil {
		return nil, err
	}
	if offset%Align != 0 || length%Align != 0 || length == 0 {
		return nil, &Error{Base: errtext.Base{Op: op, Err: ErrAligned,
			Detail: fmt.Sprintf("offset and length have to be multiples of %d, the length not 0", Align),
			Hint: fmt.Sprintf("use offset %d and %d bytes that are the tensor's alone", roundUp(offset),
				max(roundUp(length), Align))}, Offset: offset, Length: length}
	}
	at := slices.IndexFunc(m.surfaces, func(s *surface) bool {
		return s.offset == offset && s.end() == offset+length
	})
	if at < 0 {
		if err := m.uncover(op, offset, length); err != nil {
			return nil, err
		}
		if err := m.free(op, offset, length); err != nil {
			return nil, err
		}
		if err := m.room(op, offset, length); err != nil {
			return nil, err
		}
		if err := m.cover(offset, length); err != nil {
			return nil, err
		}
		at = len(m.surfaces) - 1
	}
	s := m.surfaces[at]
	s.users++
	return &Region{memory: m, surface: s, offset: int(offset), length: int(length)}, nil
}

func roundUp(n uint64) uint64 { return (n + Align - 1) / Align * Align }

// maxSurfaces and maxIdle bound the surfaces of a guest, each of which takes a descriptor and a mapping of the process.
const (
	maxSurfaces = 1024
	maxIdle     = 64
)

// room unmaps the oldest idle surface if there are many, for one more. The caller holds mu.
func (m *Memory) room(op string, offset, length uint64) error {
	if len(m.surfaces) < maxIdle {
		return nil
	}
	idle := 0
	var oldest *surface
	for _, s := range m.surfaces {
		if s.users == 0 {
			idle++
			if oldest == nil {
				oldest = s
			}
		}
	}
	if idle >= maxIdle || idle > 0 && len(m.surfaces) >= maxSurfaces {
		return m.uncover(op, oldest.offset, uint64(oldest.block.Size()))
	}
	if len(m.surfaces) >= maxSurfaces {
		return &Error{Base: errtext.Base{Op: op, Err: ErrLimit, Detail: fmt.Sprintf("%d surfaces are in use",
			len(m.surfaces)), Hint: "close requests first"}, Offset: offset, Length: length}
	}
	return nil
}

// uncover unmaps idle surfaces from a range; what they hold goes back to the guest's Block. The caller holds mu.
func (m *Memory) uncover(op string, offset, length uint64) error {
	for i := 0; i < len(m.surfaces); {
		s := m.surfaces[i]
		if s.end() <= offset || offset+length <= s.offset {
			i++
			continue
		}
		if s.users > 0 {
			return &Error{Base: errtext.Base{Op: op, Err: ErrOverlap,
				Detail: fmt.Sprintf("bytes %d to %d are a surface in use", s.offset, s.end()),
				Hint:   "bind the same range, or one of other pages"}, Offset: offset, Length: length}
		}
		if err := m.over.uncover(s.offset, uint64(s.block.Size())); err != nil {
			return &Error{Base: errtext.Base{Op: op, Err: ErrOverlap, Cause: err,
				Detail: fmt.Sprintf("the surface at %d stays mapped", s.offset)}, Offset: offset, Length: length}
		}
		m.copied += int64(copy(m.block.Bytes()[s.offset:s.end()], s.block.Bytes()))
		if err := s.block.Close(); err != nil { // a request outlives its region, and goes on with the surface
			err = errors.Join(err, m.over.cover(s.block, s.offset))
			return &Error{Base: errtext.Base{Op: op, Err: ErrOverlap, Cause: err,
				Detail: fmt.Sprintf("the surface at %d stays mapped", s.offset),
				Hint:   "close the requests of a region before the region"}, Offset: offset, Length: length}
		}
		m.surfaces = slices.Delete(m.surfaces, i, i+1)
	}
	return nil
}

// free returns an ErrOverlap if a region in place has part of a range: an engine that maps the guest's Block by its
// handle would go on with pages that the guest no longer sees. The caller holds mu.
func (m *Memory) free(op string, offset, length uint64) error {
	for _, r := range m.inPlace {
		if from, to := uint64(r.offset), uint64(r.offset+r.length); from < offset+length && offset < to {
			return &Error{Base: errtext.Base{Op: op, Err: ErrOverlap,
				Detail: fmt.Sprintf("bytes %d to %d are a region in place", from, to),
				Hint:   "close the requests that use it first"}, Offset: offset, Length: length}
		}
	}
	return nil
}

// cover maps a new surface over a range. The caller holds mu.
func (m *Memory) cover(offset, length uint64) error {
	block, err := unimem.Open(int(length), m.opts...)
	if err != nil {
		return err
	}
	moved, err := m.over.move(block, offset)
	if err == nil {
		err = m.over.cover(block, offset)
	}
	if err != nil {
		_ = block.Close() // the first failure is the one to report
		return &Error{Base: errtext.Base{Op: "surface", Err: ErrUnsupported, Cause: err,
			Hint: "use an engine that accepts tensors at an offset"}, Offset: offset, Length: length}
	}
	m.copied += moved
	m.surfaces = append(m.surfaces, &surface{block: block, offset: offset})
	return nil
}
