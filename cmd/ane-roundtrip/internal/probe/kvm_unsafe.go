//go:build linux && !macrules

package probe

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of linux/kvm.h.
const (
	kvmCreateVM  = 0xae01
	kvmSetMemory = 0x4020ae46 // KVM_SET_USER_MEMORY_REGION
)

// region is kvm_userspace_memory_region. A size of 0 removes the slot.
type region struct {
	slot, flags          uint32
	guest, size, address uint64
}

// openMachine opens a virtual machine of KVM.
func openMachine() (*machine, error) {
	hint := "see kvm-ok of Debian's cpu-checker"
	system, err := unix.Open("/dev/kvm", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			hint = "join the group kvm"
		}
		return nil, &unavailable{fmt.Sprintf("no KVM: open /dev/kvm: %v", err), hint}
	}
	defer unix.Close(system) // the machine has the system's part that it needs
	vm, err := unix.IoctlRetInt(system, kvmCreateVM)
	if err != nil {
		return nil, &unavailable{fmt.Sprintf("no KVM: %v", err), hint}
	}
	set := func(r region) error {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(vm), kvmSetMemory, uintptr(unsafe.Pointer(&r)))
		if errno != 0 {
			return errno
		}
		return nil
	}
	return &machine{
		name: "KVM",
		mapped: func(address uintptr, size int) error {
			return set(region{guest: guestAt, size: uint64(size), address: uint64(address)})
		},
		unmapped: func(int) error { return set(region{guest: guestAt}) },
		close:    func() error { return unix.Close(vm) },
	}, nil
}
