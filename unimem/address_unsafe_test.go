package unimem_test

import "unsafe"

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func addressOfValue[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// Types that views must refuse, and one that they accept.
type (
	rawPointer struct{ P unsafe.Pointer }
	number     uintptr
)
