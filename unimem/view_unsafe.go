package unimem

import (
	"fmt"
	"reflect"
	"unsafe"
)

// View sees b as values of T, with cap equal to len. It copies nothing, so the view dies
// with the memory under b.
//
// Errors: ErrPointerType (T holds a pointer, string, slice, map, interface, channel or
// function, which the collector could not see there), ErrInvalidAlignment, ErrSize (ragged
// length, or T has no size).
func View[T any](b []byte) ([]T, error) {
	var z T
	size := int(unsafe.Sizeof(z))
	switch {
	case !pointerFree[T]():
		return nil, viewError[T](b, ErrPointerType, "use numbers, and structs and arrays of them")
	case size == 0:
		return nil, viewError[T](b, ErrSize, "the type has no size")
	case len(b)%size != 0:
		return nil, viewError[T](b, ErrSize, fmt.Sprintf("the length must be a multiple of %d", size))
	case len(b) == 0:
		return []T{}, nil
	case address(b)%unsafe.Alignof(z) != 0:
		return nil, viewError[T](b, ErrInvalidAlignment, fmt.Sprintf("begin at a multiple of %d", unsafe.Alignof(z)))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size), nil
}

func viewError[T any](b []byte, err error, hint string) error {
	return &Error{Op: "view as " + reflect.TypeFor[T]().String(), Size: len(b), Err: err, Hint: hint}
}

// pointerFree reports whether T holds no pointers. A type once found good is remembered by
// the address of its description, so that asking again is one load and one comparison: type
// arguments are compiled in and their descriptions never move. Two types on one place only
// displace each other.
func pointerFree[T any]() bool {
	kind := any((*T)(nil))
	key := *(*uintptr)(unsafe.Pointer(&kind)) // an interface begins with its type's address
	known := &process.plain[key>>5%uintptr(len(process.plain))]
	return known.Load() == key || learn(reflect.TypeFor[T](), key)
}

func learn(t reflect.Type, key uintptr) bool {
	if !plainType(t) {
		return false
	}
	process.plain[key>>5%uintptr(len(process.plain))].Store(key)
	return true
}

func plainType(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Complex128:
		return true // uintptr included: the collector takes it for a number
	case k == reflect.Array:
		return plainType(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if !plainType(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}
