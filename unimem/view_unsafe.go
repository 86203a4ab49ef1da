package unimem

import (
	"fmt"
	"reflect"
	"unsafe"
)

// View returns b as values of T, with cap equal to len. It copies nothing: the view is valid
// as long as the memory of b.
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

// pointerFree reports whether T has no pointers. It caches a type without pointers by the
// address of its descriptor, so that the next call takes one load and one comparison: type
// arguments are compiled in and their descriptors never move. Two types with the same slot
// only displace each other.
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
		return true // including uintptr, which the collector treats as a number
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
