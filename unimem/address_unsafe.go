package unimem

import "unsafe"

// address is where b begins, 0 for nil.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// alignedBytes allocates size zero bytes at a multiple of PageSize. The allocation ends
// behind the slice, so an empty span at its end still points into it.
func alignedBytes(size int) []byte {
	raw := make([]byte, size+PageSize)
	skip := int(-address(raw) & (PageSize - 1))
	return raw[skip : skip+size : skip+size]
}

// bytesAt views size bytes of foreign memory. The address comes from the system as a number,
// so it is read back as a pointer without arithmetic.
func bytesAt(addr uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size)
}
