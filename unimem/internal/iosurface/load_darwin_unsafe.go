//go:build darwin

package iosurface

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Where macOS keeps the two libraries. They live in the shared cache, not on disk.
const (
	ioSurfacePath      = "/System/Library/Frameworks/IOSurface.framework/IOSurface"
	coreFoundationPath = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
)

// System is the table of this machine's own libraries, loaded once and never unloaded.
var System = sync.OnceValues(func() (*Table, error) { return Load(ioSurfacePath, coreFoundationPath) })

// symbols remembers the first symbol that was missing.
type symbols struct{ err error }

// at takes a symbol's address as Dlsym gives it.
func (s *symbols) at(addr uintptr, err error) uintptr {
	if err != nil && s.err == nil {
		s.err = &Error{Call: "dlsym", Text: err.Error()}
	}
	return addr
}

// constant reads a CFStringRef variable through its symbol.
func (s *symbols) constant(addr uintptr, err error) Ref {
	if s.at(addr, err); err != nil || addr == 0 {
		return 0
	}
	r := **(**Ref)(unsafe.Pointer(&addr))
	if r == 0 && s.err == nil {
		s.err = &Error{Call: "dlsym", Text: "a CFString constant is NULL"}
	}
	return r
}

// Load fills a Table from the two libraries. They stay loaded for the life of the process.
func Load(ioSurface, coreFoundation string) (*Table, error) {
	const mode = purego.RTLD_NOW | purego.RTLD_GLOBAL
	cf, err := purego.Dlopen(coreFoundation, mode)
	if err != nil {
		return nil, &Error{Call: "dlopen", Text: err.Error()}
	}
	io, err := purego.Dlopen(ioSurface, mode)
	if err != nil {
		return nil, &Error{Call: "dlopen", Text: err.Error()}
	}
	var s symbols
	t := &Table{
		Width:           s.constant(purego.Dlsym(io, "kIOSurfaceWidth")),
		Height:          s.constant(purego.Dlsym(io, "kIOSurfaceHeight")),
		BytesPerElement: s.constant(purego.Dlsym(io, "kIOSurfaceBytesPerElement")),
		BytesPerRow:     s.constant(purego.Dlsym(io, "kIOSurfaceBytesPerRow")),
		AllocSize:       s.constant(purego.Dlsym(io, "kIOSurfaceAllocSize")),
		PixelFormat:     s.constant(purego.Dlsym(io, "kIOSurfacePixelFormat")),
		KeyCallBacks:    s.at(purego.Dlsym(cf, "kCFTypeDictionaryKeyCallBacks")),
		ValueCallBacks:  s.at(purego.Dlsym(cf, "kCFTypeDictionaryValueCallBacks")),
	}
	fillCoreFoundation(t, &s, cf)
	fillIOSurface(t, &s, io)
	if s.err != nil {
		return nil, s.err
	}
	return t, nil
}

func fillCoreFoundation(t *Table, s *symbols, lib uintptr) {
	create := s.at(purego.Dlsym(lib, "CFDictionaryCreateMutable"))
	t.DictionaryCreateMutable = func(allocator Ref, capacity int, keys, values uintptr) Ref {
		r, _, _ := purego.SyscallN(create, uintptr(allocator), uintptr(capacity), keys, values)
		return Ref(r)
	}
	set := s.at(purego.Dlsym(lib, "CFDictionarySetValue"))
	t.DictionarySetValue = func(dictionary, key, value Ref) {
		purego.SyscallN(set, uintptr(dictionary), uintptr(key), uintptr(value))
	}
	number := s.at(purego.Dlsym(lib, "CFNumberCreate"))
	t.NumberCreate = func(allocator Ref, kind int, value *int64) Ref {
		r, _, _ := purego.SyscallN(number, uintptr(allocator), uintptr(kind), uintptr(unsafe.Pointer(value)))
		return Ref(r)
	}
	release := s.at(purego.Dlsym(lib, "CFRelease"))
	t.Release = func(r Ref) { purego.SyscallN(release, uintptr(r)) }
}

func fillIOSurface(t *Table, s *symbols, lib uintptr) {
	create := s.at(purego.Dlsym(lib, "IOSurfaceCreate"))
	t.Create = func(properties Ref) Ref {
		r, _, _ := purego.SyscallN(create, uintptr(properties))
		return Ref(r)
	}
	lookup := s.at(purego.Dlsym(lib, "IOSurfaceLookup"))
	t.Lookup = func(id uint32) Ref {
		r, _, _ := purego.SyscallN(lookup, uintptr(id))
		return Ref(r)
	}
	const noSeed = 0 // nobody asks whether the contents changed
	lock := s.at(purego.Dlsym(lib, "IOSurfaceLock"))
	t.Lock = func(surface Ref, options uint32) int32 {
		r, _, _ := purego.SyscallN(lock, uintptr(surface), uintptr(options), noSeed)
		return int32(r)
	}
	unlock := s.at(purego.Dlsym(lib, "IOSurfaceUnlock"))
	t.Unlock = func(surface Ref, options uint32) int32 {
		r, _, _ := purego.SyscallN(unlock, uintptr(surface), uintptr(options), noSeed)
		return int32(r)
	}
	base := s.at(purego.Dlsym(lib, "IOSurfaceGetBaseAddress"))
	t.GetBaseAddress = func(surface Ref) uintptr {
		r, _, _ := purego.SyscallN(base, uintptr(surface))
		return r
	}
	size := s.at(purego.Dlsym(lib, "IOSurfaceGetAllocSize"))
	t.GetAllocSize = func(surface Ref) int {
		r, _, _ := purego.SyscallN(size, uintptr(surface))
		return int(r)
	}
	id := s.at(purego.Dlsym(lib, "IOSurfaceGetID"))
	t.GetID = func(surface Ref) uint32 {
		r, _, _ := purego.SyscallN(id, uintptr(surface))
		return uint32(r)
	}
}
