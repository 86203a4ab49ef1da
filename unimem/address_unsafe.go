package unimem

import "unsafe"

// address returns the address of the first byte of b, 0 for nil.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// alignedBytes allocates size zero bytes at a multiple of PageSize. The allocation is
// longer than the slice, so that an empty span at the end still points into it.
func alignedBytes(size int) []byte {
	raw := make([]byte, size+PageSize)
	skip := int(-address(raw) & (PageSize - 1))
	return raw[skip : skip+size : skip+size]
}

// bytesAt returns size bytes of memory outside of Go. The system returns the address as a
// number; it is converted to a pointer without arithmetic.
func bytesAt(addr uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size)
}
