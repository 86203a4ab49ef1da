//go:build darwin || (linux && cgo)

package dynamic

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/iosurface"
)

type ref = iosurface.Ref

// Load fills a Table from the two libraries, which may be the same. They stay loaded until the
// process ends, unless Load fails.
func Load(ioSurface, coreFoundation string) (*iosurface.Table, error) {
	// The loader stores the text of its last error per thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	cf, err := open(coreFoundation)
	if err != nil {
		return nil, err
	}
	io, err := open(ioSurface)
	if err != nil {
		_ = purego.Dlclose(cf) // the first failure is the one to report
		return nil, err
	}
	var s symbols
	t := &iosurface.Table{
		Width:           s.constant(io, "kIOSurfaceWidth"),
		Height:          s.constant(io, "kIOSurfaceHeight"),
		BytesPerElement: s.constant(io, "kIOSurfaceBytesPerElement"),
		BytesPerRow:     s.constant(io, "kIOSurfaceBytesPerRow"),
		AllocSize:       s.constant(io, "kIOSurfaceAllocSize"),
		PixelFormat:     s.constant(io, "kIOSurfacePixelFormat"),
		KeyCallBacks:    s.at(cf, "kCFTypeDictionaryKeyCallBacks"),
		ValueCallBacks:  s.at(cf, "kCFTypeDictionaryValueCallBacks"),

		Create:         function[ref, ref](s.at(io, "IOSurfaceCreate")),
		Lookup:         function[uint32, ref](s.at(io, "IOSurfaceLookup")),
		GetBaseAddress: function[ref, uintptr](s.at(io, "IOSurfaceGetBaseAddress")),
		GetAllocSize:   function[ref, int](s.at(io, "IOSurfaceGetAllocSize")),
		GetID:          function[ref, uint32](s.at(io, "IOSurfaceGetID")),
		Lock:           locking(s.at(io, "IOSurfaceLock")),
		Unlock:         locking(s.at(io, "IOSurfaceUnlock")),
	}
	fillCoreFoundation(t, &s, cf)
	fillUses(t, io)
	if s.err != nil {
		_, _ = purego.Dlclose(io), purego.Dlclose(cf)
		return nil, s.err
	}
	return t, nil
}

func open(path string) (uintptr, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return 0, &iosurface.Error{Call: "dlopen", Text: err.Error()}
	}
	return lib, nil
}

// symbols has the error of the first missing symbol.
type symbols struct{ err error }

// at returns the address of a symbol.
func (s *symbols) at(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil && s.err == nil {
		s.err = &iosurface.Error{Call: "dlsym", Text: err.Error()}
	}
	return address
}

// constant reads a CFStringRef variable through its symbol.
func (s *symbols) constant(library uintptr, name string) ref {
	address := s.at(library, name)
	if address == 0 {
		return 0
	}
	r := **(**ref)(unsafe.Pointer(&address))
	if r == 0 && s.err == nil {
		s.err = &iosurface.Error{Call: "dlsym", Text: "a CFString constant is NULL"}
	}
	return r
}

// function returns a C function of one argument, with a result.
func function[A, R ref | uintptr | int | int32 | uint32](address uintptr) func(A) R {
	return func(a A) R {
		r, _, _ := purego.SyscallN(address, uintptr(a))
		return R(r)
	}
}

// locking returns IOSurfaceLock or IOSurfaceUnlock, without the seed, which counts changes.
func locking(address uintptr) func(surface ref, options uint32) int32 {
	const noSeed = 0
	return func(surface ref, options uint32) int32 {
		r, _, _ := purego.SyscallN(address, uintptr(surface), uintptr(options), noSeed)
		return int32(r)
	}
}

func fillCoreFoundation(t *iosurface.Table, s *symbols, lib uintptr) {
	create := s.at(lib, "CFDictionaryCreateMutable")
	t.DictionaryCreateMutable = func(allocator ref, capacity int, keys, values uintptr) ref {
		r, _, _ := purego.SyscallN(create, uintptr(allocator), uintptr(capacity), keys, values)
		return ref(r)
	}
	set := s.at(lib, "CFDictionarySetValue")
	t.DictionarySetValue = func(dictionary, key, value ref) {
		purego.SyscallN(set, uintptr(dictionary), uintptr(key), uintptr(value))
	}
	number := s.at(lib, "CFNumberCreate")
	t.NumberCreate = func(allocator ref, kind int, value *int64) ref {
		r, _, _ := purego.SyscallN(number, uintptr(allocator), uintptr(kind), uintptr(unsafe.Pointer(value)))
		return ref(r)
	}
	release := s.at(lib, "CFRelease")
	t.Release = func(r ref) { purego.SyscallN(release, uintptr(r)) }
}

// fillUses finds the functions of use counts, both or none.
func fillUses(t *iosurface.Table, io uintptr) {
	var s symbols
	count, used := s.at(io, "IOSurfaceGetUseCount"), function[ref, uint32](s.at(io, "IOSurfaceIsInUse"))
	if s.err != nil {
		return
	}
	t.UseCount = function[ref, int32](count)
	t.InUse = func(surface ref) bool { return byte(used(surface)) != 0 } // Boolean has 8 bits
}
