package unimem

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// View returns b as values of T, with cap equal to len. It copies nothing: the view is valid as long as the memory of
// b.
//
// Errors: ErrPointerType (T holds a pointer, string, slice, map, interface, channel or function, which the collector
// could not see there), ErrBoolType (T holds a bool, and memory may hold bytes other than 0 and 1),
// ErrInvalidAlignment, ErrSize (ragged length, or T has no size).
func View[T any](b []byte) ([]T, error) {
	// The operand of Sizeof and Alignof is not evaluated. A variable would be one of T's size.
	size, align := int(unsafe.Sizeof(*(*T)(nil))), unsafe.Alignof(*(*T)(nil))
	if !process.types.has((*T)(nil)) {
		if err := process.types.learn((*T)(nil)); err != nil {
			return nil, viewError[T](b, err, "use numbers, and structs and arrays of them")
		}
	}
	switch {
	case size == 0:
		return nil, viewError[T](b, ErrSize, "the type has no size")
	case len(b)%size != 0:
		return nil, viewError[T](b, ErrSize, fmt.Sprintf("the length must be a multiple of %d", size))
	case len(b) == 0:
		return []T{}, nil
	case address(b)%align != 0:
		return nil, viewError[T](b, ErrInvalidAlignment, fmt.Sprintf("begin at a multiple of %d", align))
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size), nil
}

func viewError[T any](b []byte, err error, hint string) error {
	return fail("view as "+reflect.TypeOf((*T)(nil)).Elem().String(), len(b), err, hint)
}

// types caches which types memory can be viewed as.
type types struct {
	// plain has addresses of descriptors of permitted types: type arguments are compiled in, so a descriptor never
	// moves. The check of a type is one load and one comparison. Two types with the same slot displace each other.
	plain [256]atomic.Uintptr
	// verdicts has the answers for all types that were asked for: a reflect.Type with an error,
	// or with nil for a permitted type.
	verdicts sync.Map
}

// has reports whether the type that pointer points to has a slot.
func (c *types) has(pointer any) bool {
	key := typeOf(pointer)
	return c.plain[uint8(key>>5)].Load() == key
}

// typeOf returns the address of the type descriptor of a value. The parts of an interface stay in registers if both
// are read, as pointers.
func typeOf(value any) uintptr {
	parts := *(*struct{ descriptor, data unsafe.Pointer })(unsafe.Pointer(&value))
	return uintptr(parts.descriptor)
}

// learn gives the type that pointer points to a slot, or returns ErrPointerType or ErrBoolType.
func (c *types) learn(pointer any) error {
	err := c.verdict(reflect.TypeOf(pointer).Elem())
	if err == nil {
		key := typeOf(pointer)
		c.plain[uint8(key>>5)].Store(key)
	}
	return err
}

func (c *types) verdict(t reflect.Type) error {
	known, ok := c.verdicts.Load(t)
	if !ok {
		known = verdict{examine(t)}
		c.verdicts.Store(t, known)
	}
	return known.(verdict).err
}

type verdict struct{ err error }

// examine looks at all parts of t.
func examine(t reflect.Type) error {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return ErrBoolType
	case k >= reflect.Int && k <= reflect.Complex128:
		return nil // including uintptr, which the collector treats as a number
	case k == reflect.Array:
		return examine(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if err := examine(t.Field(i).Type); err != nil {
				return err
			}
		}
		return nil
	}
	return ErrPointerType
}

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
