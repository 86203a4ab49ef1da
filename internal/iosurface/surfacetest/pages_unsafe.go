package surfacetest

import "unsafe"

// granule is the page of Apple silicon in bytes.
const granule = 16 << 10

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// pages returns zero memory that starts at a page. The Fake keeps it alive as long as the
// object.
func pages(size int) []byte {
	raw := make([]byte, size+granule)
	skip := int(-address(raw) & (granule - 1))
	return raw[skip : skip+size : skip+size]
}
