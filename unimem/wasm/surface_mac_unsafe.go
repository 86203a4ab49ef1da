//go:build darwin || macrules

package wasm

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/unimem"
)

// Flags of mach_vm_remap, from mach/vm_statistics.h and mach/vm_inherit.h.
const (
	vmFlagsFixed     = 0x0000
	vmFlagsOverwrite = 0x4000
	vmInheritNone    = 2
)

// moveTouched copies the guest's range to the surface. This system does not say which pages were written.
func moveTouched(surface, guest *unimem.Block, offset uint64) (int64, error) {
	return int64(copy(surface.Bytes(), guest.Bytes()[offset:])), nil
}

// mapSurface maps the surface's pages over those of the guest. It was never run on a Mac.
func mapSurface(guest *unimem.Block, offset uint64, surface *unimem.Block) error {
	lib, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return err
	}
	remap, err := purego.Dlsym(lib, "mach_vm_remap")
	if err != nil {
		return err
	}
	self, err := purego.Dlsym(lib, "mach_task_self_") // mach_port_t of mach_init.h
	if err != nil {
		return err
	}
	task := uintptr(**(**uint32)(unsafe.Pointer(&self)))
	target := uint64(guest.Address()) + offset
	var current, maximum int32
	code, _, _ := purego.SyscallN(remap, task, uintptr(unsafe.Pointer(&target)), uintptr(surface.Size()), 0,
		vmFlagsFixed|vmFlagsOverwrite, task, surface.Address(), 0, uintptr(unsafe.Pointer(&current)),
		uintptr(unsafe.Pointer(&maximum)), vmInheritNone)
	if int32(code) != 0 {
		return fmt.Errorf("mach_vm_remap: kern_return_t %d", int32(code))
	}
	return nil
}

// unmapSurface is not possible: the guest's own pages there are gone.
func unmapSurface(*unimem.Block, uint64, uint64) error {
	return errors.New("this system cannot map the guest's own pages again")
}

func touched(*unimem.Block, uint64, uint64) ([]Extent, error) { return nil, errors.ErrUnsupported }
