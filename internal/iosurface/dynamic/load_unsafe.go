//go:build darwin || (linux && cgo)

package dynamic

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/iosurface"
)

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

// at takes the results of Dlsym and returns the symbol's address.
func (s *symbols) at(addr uintptr, err error) uintptr {
	if err != nil && s.err == nil {
		s.err = &iosurface.Error{Call: "dlsym", Text: err.Error()}
	}
	return addr
}

// constant reads a CFStringRef variable through its symbol.
func (s *symbols) constant(addr uintptr, err error) iosurface.Ref {
	if s.at(addr, err); err != nil {
		return 0
	}
	r := **(**iosurface.Ref)(unsafe.Pointer(&addr))
	if r == 0 && s.err == nil {
		s.err = &iosurface.Error{Call: "dlsym", Text: "a CFString constant is NULL"}
	}
	return r
}

func fillCoreFoundation(t *iosurface.Table, s *symbols, lib uintptr) {
	create := s.at(purego.Dlsym(lib, "CFDictionaryCreateMutable"))
	t.DictionaryCreateMutable = func(allocator iosurface.Ref, capacity int, keys, values uintptr) iosurface.Ref {
		r, _, _ := purego.SyscallN(create, uintptr(allocator), uintptr(capacity), keys, values)
		return iosurface.Ref(r)
	}
	set := s.at(purego.Dlsym(lib, "CFDictionarySetValue"))
	t.DictionarySetValue = func(dictionary, key, value iosurface.Ref) {
		purego.SyscallN(set, uintptr(dictionary), uintptr(key), uintptr(value))
	}
	number := s.at(purego.Dlsym(lib, "CFNumberCreate"))
	t.NumberCreate = func(allocator iosurface.Ref, kind int, value *int64) iosurface.Ref {
		r, _, _ := purego.SyscallN(number, uintptr(allocator), uintptr(kind), uintptr(unsafe.Pointer(value)))
		return iosurface.Ref(r)
	}
	release := s.at(purego.Dlsym(lib, "CFRelease"))
	t.Release = func(r iosurface.Ref) { purego.SyscallN(release, uintptr(r)) }
}

func fillIOSurface(t *iosurface.Table, s *symbols, lib uintptr) {
	create := s.at(purego.Dlsym(lib, "IOSurfaceCreate"))
	t.Create = func(properties iosurface.Ref) iosurface.Ref {
		r, _, _ := purego.SyscallN(create, uintptr(properties))
		return iosurface.Ref(r)
	}
	lookup := s.at(purego.Dlsym(lib, "IOSurfaceLookup"))
	t.Lookup = func(id uint32) iosurface.Ref {
		r, _, _ := purego.SyscallN(lookup, uintptr(id))
		return iosurface.Ref(r)
	}
	const noSeed = 0 // this package does not need the seed, which counts changes
	lock := s.at(purego.Dlsym(lib, "IOSurfaceLock"))
	t.Lock = func(surface iosurface.Ref, options uint32) int32 {
		r, _, _ := purego.SyscallN(lock, uintptr(surface), uintptr(options), noSeed)
		return int32(r)
	}
	unlock := s.at(purego.Dlsym(lib, "IOSurfaceUnlock"))
	t.Unlock = func(surface iosurface.Ref, options uint32) int32 {
		r, _, _ := purego.SyscallN(unlock, uintptr(surface), uintptr(options), noSeed)
		return int32(r)
	}
	base := s.at(purego.Dlsym(lib, "IOSurfaceGetBaseAddress"))
	t.GetBaseAddress = func(surface iosurface.Ref) uintptr {
		r, _, _ := purego.SyscallN(base, uintptr(surface))
		return r
	}
	size := s.at(purego.Dlsym(lib, "IOSurfaceGetAllocSize"))
	t.GetAllocSize = func(surface iosurface.Ref) int {
		r, _, _ := purego.SyscallN(size, uintptr(surface))
		return int(r)
	}
	id := s.at(purego.Dlsym(lib, "IOSurfaceGetID"))
	t.GetID = func(surface iosurface.Ref) uint32 {
		r, _, _ := purego.SyscallN(id, uintptr(surface))
		return uint32(r)
	}
}

// fillUses finds the functions of use counts, both or none.
func fillUses(t *iosurface.Table, io uintptr) {
	var s symbols
	count := s.at(purego.Dlsym(io, "IOSurfaceGetUseCount"))
	used := s.at(purego.Dlsym(io, "IOSurfaceIsInUse"))
	if s.err != nil {
		return
	}
	t.UseCount = func(surface iosurface.Ref) int32 {
		r, _, _ := purego.SyscallN(count, uintptr(surface))
		return int32(r)
	}
	t.InUse = func(surface iosurface.Ref) bool {
		r, _, _ := purego.SyscallN(used, uintptr(surface))
		return byte(r) != 0 // Boolean has 8 bits
	}
}
