// Package iosurface creates IOSurfaces: each is one run of memory, locked for the CPU from
// creation until Close.
//
// It calls the functions of a Table. So all code but that which fills the table is the same on every
// machine, and runs with another library too.
package iosurface

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// readWrite is the lock option 0: the CPU both reads and writes.
const readWrite = 0

// Error is the error of a C function.
type Error struct {
	Call string // the C function
	Code int32  // its kern_return_t, or 0 for a function without one
	Text string
}

func (e *Error) Error() string {
	if e.Code != 0 {
		return fmt.Sprintf("%s: %s (0x%x)", e.Call, e.Text, uint32(e.Code))
	}
	return e.Call + ": " + e.Text
}

// Locking reports whether the surface existed and could not be locked.
func (e *Error) Locking() bool {
	return e.Call == "IOSurfaceLock" || e.Call == "IOSurfaceGetBaseAddress"
}

// Short reports whether the surface has too few bytes.
func (e *Error) Short() bool { return e.Call == "IOSurfaceGetAllocSize" }

// Surface is a locked IOSurface. It owns one reference and one lock until Close.
type Surface struct {
	Ref  Ref
	Base uintptr
	Size int // requested size; the surface is at least as large
	ID   uint32

	table  *Table
	closed atomic.Bool
}

// MaxSize is the most bytes of a surface. Width, bytes per row, height and size are fields of the
// system. Their widths are not published; Apple's class that makes surfaces for the engine takes
// width and height as int. So no field but the size goes beyond 31 bits here, and the size not
// beyond 32.
const MaxSize = 1<<32 - 1

// A surface of more than maxRow bytes has several rows, of manyRow bytes each.
const (
	maxRow  = 1<<31 - 1
	manyRow = 16 << 10 // divides every size that is rounded to pages
)

// form returns width, which is also the bytes per row, and height of a surface.
func form(size int) (width, height int64) {
	if size <= maxRow {
		return int64(size), 1
	}
	return manyRow, (int64(size) + manyRow - 1) / manyRow
}

// Open creates a surface of size bytes, at most MaxSize, and locks it. It is a single row up to
// 2 GiB, and several without padding beyond.
func Open(t *Table, size int) (*Surface, error) {
	properties, err := describe(t, size)
	if err != nil {
		return nil, err
	}
	ref := t.Create(properties)
	t.Release(properties)
	if ref == 0 {
		return nil, &Error{Call: "IOSurfaceCreate",
			Text: "returned no surface: out of memory, or beyond the limit of the system"}
	}
	return lock(t, ref, size)
}

// Lookup finds a surface of at least size bytes by its id, and locks it.
func Lookup(t *Table, id uint32, size int) (*Surface, error) {
	ref := t.Lookup(id)
	if ref == 0 {
		return nil, &Error{Call: "IOSurfaceLookup", Text: fmt.Sprintf("no surface has id %d", id)}
	}
	return lock(t, ref, size)
}

// describe returns the dictionary of properties. The caller releases it.
func describe(t *Table, size int) (Ref, error) {
	width, height := form(size)
	properties := [...]struct {
		key   Ref
		value int64
	}{
		{t.Width, width},
		{t.Height, height},
		{t.BytesPerElement, 1},
		{t.BytesPerRow, width},
		{t.AllocSize, int64(size)},
		{t.PixelFormat, 0},
	}
	d := t.DictionaryCreateMutable(0, len(properties), t.KeyCallBacks, t.ValueCallBacks)
	if d == 0 {
		return 0, &Error{Call: "CFDictionaryCreateMutable", Text: "returned no dictionary"}
	}
	for _, p := range properties {
		n := t.NumberCreate(0, numberSInt64, &p.value)
		if n == 0 {
			t.Release(d)
			return 0, &Error{Call: "CFNumberCreate", Text: "returned no number"}
		}
		t.DictionarySetValue(d, p.key, n)
		t.Release(n) // the dictionary has its own reference
	}
	return d, nil
}

// lock takes ownership of the reference: after an error it is released.
func lock(t *Table, ref Ref, size int) (*Surface, error) {
	if code := t.Lock(ref, readWrite); code != 0 {
		t.Release(ref)
		return nil, &Error{Call: "IOSurfaceLock", Code: code, Text: "the surface cannot be locked"}
	}
	s := &Surface{Ref: ref, Base: t.GetBaseAddress(ref), Size: size, ID: t.GetID(ref), table: t}
	err := s.check(t.GetAllocSize(ref))
	if err != nil {
		_ = s.Close() // the first failure is the one to report
		return nil, err
	}
	return s, nil
}

func (s *Surface) check(have int) error {
	switch {
	case s.Base == 0:
		return &Error{Call: "IOSurfaceGetBaseAddress", Text: "returned no address"}
	case have < s.Size:
		return &Error{Call: "IOSurfaceGetAllocSize",
			Text: fmt.Sprintf("want %d bytes, the surface has %d", s.Size, have)}
	case s.ID == 0:
		return &Error{Call: "IOSurfaceGetID", Text: "returned 0"}
	}
	return nil
}

// Close unlocks, then releases, once. The reference is released even if unlocking fails.
func (s *Surface) Close() error {
	if !s.closed.CompareAndSwap(false, true) {
		return nil
	}
	code := s.table.Unlock(s.Ref, readWrite)
	s.table.Release(s.Ref)
	if code != 0 {
		return &Error{Call: "IOSurfaceUnlock", Code: code, Text: "the surface cannot be unlocked"}
	}
	return nil
}

// Uses returns how often this process has marked the surface as in use, and whether any process has. known is false if
// the library does not tell.
func (s *Surface) Uses() (count int, inUse, known bool) {
	if s.table.UseCount == nil || s.table.InUse == nil {
		return 0, false, false
	}
	return int(s.table.UseCount(s.Ref)), s.table.InUse(s.Ref), true
}

// scarce has the codes of a lock that failed for lack of memory.
var scarce = []uint32{
	3,          // KERN_NO_SPACE of mach/kern_return.h
	6,          // KERN_RESOURCE_SHORTAGE
	0xe00002bd, // kIOReturnNoMemory of IOKit/IOReturn.h
	0xe00002be, // kIOReturnNoResources
	0xe00002c8, // kIOReturnVMError
	0xe00002db, // kIOReturnNoSpace
	0xe00002de, // kIOReturnCannotWire
}

// Exhausted reports whether the system lacked memory. Functions that return no object or no
// address give no reason; with valid arguments the likely one is lack of memory.
func (e *Error) Exhausted() bool {
	switch e.Call {
	case "CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate", "IOSurfaceGetBaseAddress":
		return true
	case "IOSurfaceLock":
		return slices.Contains(scarce, uint32(e.Code))
	}
	return false
}

// Missing reports whether no surface has the id.
func (e *Error) Missing() bool { return e.Call == "IOSurfaceLookup" }
