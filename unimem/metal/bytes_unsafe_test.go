package metal

import "unsafe"

func addressOfBytes(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func bytesAt(address uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(address)), n) }
