//go:build (darwin || macrules) && (amd64 || arm64)

package probe

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/unimem"
)

// Nothing in this file was ever run.

// equivalentMachine: a Mac has the original.
const equivalentMachine = ""

const (
	surfaceFramework    = "/System/Library/Frameworks/IOSurface.framework/IOSurface"
	hypervisorFramework = "/System/Library/Frameworks/Hypervisor.framework/Hypervisor"
	systemLibrary       = "/usr/lib/libSystem.B.dylib"
)

// symbols finds functions of a library.
func symbols(path string, names ...string) ([]uintptr, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	all := make([]uintptr, len(names))
	for i, name := range names {
		if all[i], err = purego.Dlsym(lib, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// call calls a C function. Go memory whose address is converted in the call expression stays alive until the return.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uint32 {
	r, _, _ := purego.SyscallN(function, args...)
	return uint32(r)
}

// lock measures IOSurfaceLock and IOSurfaceUnlock of a surface that its Block has locked: the locks nest.
func lock(b *unimem.Block, options uint32) (ns float64, why string) {
	f, err := symbols(surfaceFramework, "IOSurfaceLock", "IOSurfaceUnlock")
	if err != nil {
		return 0, err.Error()
	}
	const times = 1000
	code := uint32(0)
	ns = least(passes, func() {
		for range times {
			code |= call(f[0], b.Handle(), uintptr(options), 0)
			code |= call(f[1], b.Handle(), uintptr(options), 0)
		}
	})
	if code != 0 {
		return 0, fmt.Sprintf("IOSurfaceLock or IOSurfaceUnlock: %#x", code)
	}
	return ns / times, ""
}

// regions counts the regions of the address space that hold a range, by mach_vm_region.
func regions(address uintptr, size int) (n int, why string) {
	f, err := symbols(systemLibrary, "mach_vm_region", "mach_task_self_")
	if err != nil {
		return 0, err.Error()
	}
	const basicInfo, basicCount = 9, 9 // VM_REGION_BASIC_INFO_64 and its count of mach/vm_region.h
	task := uintptr(**(**uint32)(unsafe.Pointer(&f[1])))
	end := uint64(address) + uint64(size)
	for at := uint64(address); at < end; n++ {
		// address, size, object name and count; then the info
		start, length, object, count, info := new(uint64), new(uint64), new(uint32), new(uint32), new([basicCount]int32)
		*start, *count = at, basicCount
		if code := call(f[0], task, uintptr(unsafe.Pointer(start)), uintptr(unsafe.Pointer(length)), basicInfo,
			uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(object))); code != 0 {
			return 0, fmt.Sprintf("mach_vm_region: %#x", code)
		}
		at = *start + *length
	}
	return n, ""
}

func runs(uintptr, int) (n int, why string) { return 0, "a process of macOS does not see page frames" }

// hypervisor is the one virtual machine of this process.
type hypervisor struct{ create, destroy, mapping, unmapping uintptr }

// Codes of Hypervisor/hv_error.h.
const (
	hvDenied      = 0xfae94007
	hvUnsupported = 0xfae9400f
)

func openMachine() (machine, error) {
	f, err := symbols(hypervisorFramework, "hv_vm_create", "hv_vm_destroy", "hv_vm_map", "hv_vm_unmap")
	if err != nil {
		return nil, unavailable(err.Error(), "")
	}
	m := &hypervisor{f[0], f[1], f[2], f[3]}
	switch code := call(m.create, 0); code {
	case 0:
		return m, nil
	case hvDenied:
		return nil, unavailable("hv_vm_create: HV_DENIED", "sign the command with the entitlement "+
			"com.apple.security.hypervisor (codesign --sign - --entitlements FILE), which needs no membership")
	case hvUnsupported:
		return nil, unavailable("hv_vm_create: HV_UNSUPPORTED", "this Mac, or virtual machine, has no hypervisor")
	default:
		return nil, unavailable(fmt.Sprintf("hv_vm_create: %#x", code), "")
	}
}

func (h *hypervisor) mapped(address uintptr, guest uint64, size int) error {
	const readWriteExecute = 7 // HV_MEMORY_READ, WRITE and EXEC
	return hvError("hv_vm_map", call(h.mapping, address, uintptr(guest), uintptr(size), readWriteExecute))
}

func (h *hypervisor) unmapped(guest uint64, size int) error {
	return hvError("hv_vm_unmap", call(h.unmapping, uintptr(guest), uintptr(size)))
}

func (h *hypervisor) close() error { return hvError("hv_vm_destroy", call(h.destroy)) }

func hvError(name string, code uint32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %#x", name, code)
}
