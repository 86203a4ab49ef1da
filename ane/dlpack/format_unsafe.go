package dlpack

import "unsafe"

// At returns the managed tensor at an address that a C function returned, and nil for 0.
func At(address uintptr) *ManagedTensorVersioned { return pointer[ManagedTensorVersioned](address) }

// AtLegacy is At for the format before 1.0.
func AtLegacy(address uintptr) *ManagedTensor { return pointer[ManagedTensor](address) }

// Address returns the address for a C function. It is valid until the deleter is called.
func (m *ManagedTensorVersioned) Address() uintptr { return uintptr(unsafe.Pointer(m)) }

// Address returns the address for a C function. It is valid until the deleter is called.
func (m *ManagedTensor) Address() uintptr { return uintptr(unsafe.Pointer(m)) }

// legacy returns the other form in the same memory, which is larger.
func (m *ManagedTensorVersioned) legacy() *ManagedTensor { return (*ManagedTensor)(unsafe.Pointer(m)) }

// pointer converts an address that came as a number, without arithmetic. It is not inlined, because the compiler of Go
// 1.26 fails on a copy whose destination it knows to be a number.
//
//go:noinline
func pointer[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// sliceAt returns n elements at an address.
func sliceAt[T any](address uintptr, n int) []T { return unsafe.Slice(pointer[T](address), n) }

// addressOf returns the address of the first element.
func addressOf[T any](first *T) uintptr { return uintptr(unsafe.Pointer(first)) }
