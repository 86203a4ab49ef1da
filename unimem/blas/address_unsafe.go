package blas

import "unsafe"

// address is that of the first element, 0 for an empty matrix.
func (m Matrix) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m.Data))) }
