//go:build linux && !macrules

package probe

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests of linux/kvm.h.
const (
	kvmAPIVersion = 0xae00
	kvmCreateVM   = 0xae01
	kvmSetMemory  = 0x4020ae46 // KVM_SET_USER_MEMORY_REGION
	kvmVersion    = 12
)

// region is kvm_userspace_memory_region. A size of 0 removes the slot.
type region struct {
	slot, flags          uint32
	guest, size, address uint64
}

// kvm is a virtual machine without a processor.
type kvm struct{ system, vm *os.File }

func newKVM() (*kvm, error) {
	system, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	version, err := control(system, kvmAPIVersion, 0)
	if err == nil && version != kvmVersion {
		err = unix.ENOTSUP
	}
	var vm uintptr
	if err == nil {
		vm, err = control(system, kvmCreateVM, 0)
	}
	if err != nil {
		system.Close()
		return nil, err
	}
	return &kvm{system, os.NewFile(vm, "kvm-vm")}, nil
}

func control(f *os.File, request, argument uintptr) (uintptr, error) {
	r, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, argument)
	if errno != 0 {
		return 0, errno
	}
	return r, nil
}

func (k *kvm) set(r region) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, k.vm.Fd(), kvmSetMemory, uintptr(unsafe.Pointer(&r)))
	if errno != 0 {
		return errno
	}
	return nil
}

func (k *kvm) mapped(address uintptr, guest uint64, size int) error {
	return k.set(region{guest: guest, size: uint64(size), address: uint64(address)})
}

func (k *kvm) unmapped(guest uint64, _ int) error { return k.set(region{guest: guest}) }

func (k *kvm) close() error {
	err := k.vm.Close()
	if other := k.system.Close(); err == nil {
		err = other
	}
	return err
}
