package vulkan

import (
	"runtime"
	"unsafe"
)

// arena pins Go memory whose address C structures hold, until free.
type arena struct{ pins runtime.Pinner }

func (a *arena) free() { a.pins.Unpin() }

// put returns the address of *v, which C may read and write until free.
func put[T any](a *arena, v *T) uintptr {
	a.pins.Pin(v)
	return uintptr(unsafe.Pointer(v))
}

// putAll returns the address of the first element, 0 of none.
func putAll[T any](a *arena, v []T) uintptr {
	if len(v) == 0 {
		return 0
	}
	return put(a, &v[0])
}

// text returns the address of a C string.
func (a *arena) text(s string) uintptr { return putAll(a, append([]byte(s), 0)) }

// texts returns the address of an array of C strings.
func (a *arena) texts(all []string) uintptr {
	at := make([]uintptr, len(all))
	for i, s := range all {
		at[i] = a.text(s)
	}
	return putAll(a, at)
}

// pointer converts an address that is not Go memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// foreign returns n bytes at an address that is not Go memory.
func foreign(address uintptr, n int) []byte { return unsafe.Slice((*byte)(pointer(address)), n) }

// textAt copies a C string of at most 64 KiB.
func textAt(address uintptr) string {
	if address == 0 {
		return ""
	}
	var b []byte
	for i := range uintptr(1 << 16) {
		c := *(*byte)(unsafe.Add(pointer(address), i))
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// messageAt copies the structure of a message of the validation layer.
func messageAt(address uintptr) messageData { return *(*messageData)(pointer(address)) }
