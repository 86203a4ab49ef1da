//go:build (darwin || macrules) && (amd64 || arm64)

package probe

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/internal/libsystem"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
)

// Nothing in this file was ever run.

const frameworks = "/System/Library/Frameworks/"

// library has the addresses of a C library's functions and variables, by name.
type library map[string]uintptr

func load(path string, names ...string) (library, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	all := library{}
	for _, name := range names {
		if err == nil {
			all[name], err = purego.Dlsym(lib, name)
		}
	}
	return all, err
}

// call calls a function that returns a code, 0 for success. Go memory whose address is converted in the call
// expression stays alive until the return.
//
//go:uintptrescapes
func (l library) call(name string, args ...uintptr) error {
	if code, _, _ := purego.SyscallN(l[name], args...); uint32(code) != 0 {
		return &libsystem.Error{Call: name, Code: int64(uint32(code)), Detail: fmt.Sprintf("%#x", uint32(code))}
	}
	return nil
}

// lock measures IOSurfaceLock and IOSurfaceUnlock of a surface that its Block has locked: the locks nest.
func lock(ctx context.Context, b *unimem.Block, options uint32) (ns float64, err error) {
	surface, err := load(frameworks+"IOSurface.framework/IOSurface", "IOSurfaceLock", "IOSurfaceUnlock")
	if err != nil {
		return 0, err
	}
	const times = 1000
	best, err := measure.Best(ctx, passes, func() error {
		for range times {
			for _, name := range []string{"IOSurfaceLock", "IOSurfaceUnlock"} {
				if err := surface.call(name, b.Handle(), uintptr(options), 0); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return float64(best) / times, err
}

// regions counts the regions of the address space that hold a range.
func regions(address uintptr, size int) (n float64, err error) {
	mach, err := load("/usr/lib/libSystem.B.dylib", "mach_vm_region", "mach_task_self_")
	if err != nil {
		return 0, err
	}
	const basicInfo, basicCount = 9, 9 // VM_REGION_BASIC_INFO_64 and its count of mach/vm_region.h
	task := mach["mach_task_self_"]
	self := uintptr(**(**uint32)(unsafe.Pointer(&task)))
	end := uint64(address) + uint64(size)
	for at := uint64(address); at < end; n++ {
		// address, size, object name and count; then the info
		start, length, object, count, info := new(uint64), new(uint64), new(uint32), new(uint32), new([basicCount]int32)
		*start, *count = at, basicCount
		err := mach.call("mach_vm_region", self, uintptr(unsafe.Pointer(start)), uintptr(unsafe.Pointer(length)),
			basicInfo, uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(object)))
		if err != nil {
			return 0, err
		}
		at = *start + *length
	}
	return n, nil
}

// openMachine opens the one virtual machine that a process may have.
func openMachine() (*machine, error) {
	hv, err := load(frameworks+"Hypervisor.framework/Hypervisor", "hv_vm_create", "hv_vm_destroy", "hv_vm_map",
		"hv_vm_unmap")
	if err == nil {
		err = hv.call("hv_vm_create", 0)
	}
	var refused *libsystem.Error
	if errors.As(err, &refused) && refused.Code == 0xfae94007 { // HV_DENIED of Hypervisor/hv_error.h
		return nil, &unavailable{err.Error(), "sign the command with the entitlement com.apple.security.hypervisor " +
			"(codesign --sign - --entitlements FILE), which needs no membership"}
	}
	if err != nil {
		return nil, &unavailable{err.Error(), "this Mac, or virtual machine, has no hypervisor"}
	}
	const readWriteExecute = 7 // HV_MEMORY_READ, WRITE and EXEC
	return &machine{
		name: "Hypervisor.framework",
		mapped: func(address uintptr, size int) error {
			return hv.call("hv_vm_map", address, guestAt, uintptr(size), readWriteExecute)
		},
		unmapped: func(size int) error { return hv.call("hv_vm_unmap", guestAt, uintptr(size)) },
		close:    func() error { return hv.call("hv_vm_destroy") },
	}, nil
}
