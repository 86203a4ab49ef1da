package npy

import "fmt"

// Kind is the type of an array's elements.
type Kind int

// The kinds that can be read and written. The zero Kind is none of them. In a
// Bool array each element is a byte, 0 for false.
const (
	Float16 Kind = iota + 1
	Float32
	Float64
	Int8
	UInt8
	Int16
	UInt16
	Int32
	UInt32
	Int64
	Bool
)

// kinds holds, in the order of the constants, the name and the code of NumPy's
// "array interface protocol": a letter and the number of bytes.
var kinds = [...]struct {
	name, code string
	size       int
}{
	Float16: {"float16", "f2", 2},
	Float32: {"float32", "f4", 4},
	Float64: {"float64", "f8", 8},
	Int8:    {"int8", "i1", 1},
	UInt8:   {"uint8", "u1", 1},
	Int16:   {"int16", "i2", 2},
	UInt16:  {"uint16", "u2", 2},
	Int32:   {"int32", "i4", 4},
	UInt32:  {"uint32", "u4", 4},
	Int64:   {"int64", "i8", 8},
	Bool:    {"bool", "b1", 1},
}

func (k Kind) valid() bool { return k > 0 && int(k) < len(kinds) }

// Size is the number of bytes of an element, 0 for an unknown kind.
func (k Kind) Size() int {
	if !k.valid() {
		return 0
	}
	return kinds[k].size
}

// String is NumPy's name of the kind.
func (k Kind) String() string {
	if !k.valid() {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kinds[k].name
}

// descr is the type string of NumPy; single bytes have no byte order.
func (k Kind) descr() string {
	if k.Size() == 1 {
		return "|" + kinds[k].code
	}
	return "<" + kinds[k].code
}

// parseDescr finds the kind of a type string, and whether its numbers are
// big-endian. "=" is the order of the machine that reads, little-endian wherever
// this package is used with NumPy's files.
func parseDescr(s string) (k Kind, big bool, refused *Error) {
	refuse := func(what, fix string) (Kind, bool, *Error) {
		return 0, false, &Error{What: fmt.Sprintf("type %q %s", s, what), Fix: fix}
	}
	like := func(what string, k Kind) (Kind, bool, *Error) {
		_, _, e := refuse(what, saveAs(k))
		e.Like = k
		return 0, false, e
	}
	if s == "" {
		return refuse("is empty", "save it again with NumPy")
	}
	order, code := s[0], s[1:]
	for k := Float16; k.valid(); k++ {
		if kinds[k].code != code {
			continue
		}
		switch order {
		case '<', '=':
			return k, false, nil
		case '|':
			if k.Size() == 1 {
				return k, false, nil
			}
			return refuse("has no byte order", saveAs(k))
		case '>':
			return k, k.Size() > 1, nil
		}
		return refuse("has an unknown byte order", saveAs(k))
	}
	if len(code) > 0 {
		switch code[0] {
		case 'c':
			return refuse("is complex", "save the real and the imaginary part separately, e.g. arr.real.astype('<f4')")
		case 'U', 'S', 'a':
			return like("is text", Float32)
		case 'O':
			return like("holds Python objects", Float32)
		case 'V':
			return refuse("is structured or raw", "save one field as numbers, e.g. arr['name'].astype('<f4')")
		case 'u':
			return like("is not supported", Int64)
		case 'M', 'm':
			return like("is a date or a duration", Int64)
		}
	}
	return like("is not supported", Float32)
}

// saveAs is the remedy for an array of the wrong type.
func saveAs(k Kind) string { return fmt.Sprintf("save it with arr.astype('%s')", k.descr()) }
