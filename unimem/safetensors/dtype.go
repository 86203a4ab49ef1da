package safetensors

import (
	"math"

	"github.com/anekit/anekit/internal/errtext"
)

// DType is the type of a tensor's elements.
type DType uint8

// The types of the format. Elements of F4 are packed two to a byte, those of F6_E2M3 and F6_E3M2
// four to three bytes.
const (
	Bool DType = iota + 1
	F4
	F6E2M3
	F6E3M2
	U8
	I8
	F8E5M2
	F8E4M3
	F8E8M0
	F8E4M3FNUZ
	F8E5M2FNUZ
	I16
	U16
	F16
	BF16
	I32
	U32
	F32
	C64
	F64
	I64
	U64
)

// dtypes has the name in the format and the bits of an element of every type.
var dtypes = [...]struct {
	name string
	bits int
}{
	0:          {"invalid", 0},
	Bool:       {"BOOL", 8},
	F4:         {"F4", 4},
	F6E2M3:     {"F6_E2M3", 6},
	F6E3M2:     {"F6_E3M2", 6},
	U8:         {"U8", 8},
	I8:         {"I8", 8},
	F8E5M2:     {"F8_E5M2", 8},
	F8E4M3:     {"F8_E4M3", 8},
	F8E8M0:     {"F8_E8M0", 8},
	F8E4M3FNUZ: {"F8_E4M3FNUZ", 8},
	F8E5M2FNUZ: {"F8_E5M2FNUZ", 8},
	I16:        {"I16", 16},
	U16:        {"U16", 16},
	F16:        {"F16", 16},
	BF16:       {"BF16", 16},
	I32:        {"I32", 32},
	U32:        {"U32", 32},
	F32:        {"F32", 32},
	C64:        {"C64", 64},
	F64:        {"F64", 64},
	I64:        {"I64", 64},
	U64:        {"U64", 64},
}

// String is the name in the format, such as "F16" or "F8_E4M3".
func (d DType) String() string {
	if !d.valid() {
		d = 0
	}
	return dtypes[d].name
}

// Bits is the size of an element in bits, 0 for an invalid type. It is not a multiple of 8 for F4,
// F6E2M3 and F6E3M2.
func (d DType) Bits() int {
	if !d.valid() {
		return 0
	}
	return dtypes[d].bits
}

// Size is the alignment in bytes that a view of the elements needs: the bytes of an element, 1
// for packed elements, 4 for C64, whose parts are two F32.
func (d DType) Size() int {
	if d == C64 {
		return 4
	}
	return max(d.Bits()/8, 1)
}

// ParseDType returns the type with a name of the format; ErrDType if there is none.
func ParseDType(name string) (DType, error) {
	if d, ok := dtypeOf([]byte(name)); ok {
		return d, nil
	}
	return 0, &Error{Base: errtext.Base{Op: "parse", Err: ErrDType, Detail: quote(name)}, Offset: -1}
}

func dtypeOf(name []byte) (DType, bool) {
	for d := Bool; d.valid(); d++ {
		if dtypes[d].name == string(name) {
			return d, true
		}
	}
	return 0, false
}

func (d DType) valid() bool { return d != 0 && int(d) < len(dtypes) }

// Bytes is the length of a tensor of type d: the product of its axes times the bits of an
// element, in bytes. The error is ErrDType, or ErrShape for a negative axis, a length that
// overflows, or one that is no whole number of bytes.
func (d DType) Bytes(shape ...int) (int64, error) {
	fail := func(err error, detail string) (int64, error) {
		return 0, &Error{Base: errtext.Base{Op: "measure", Err: err, Detail: detail}, Offset: -1}
	}
	if !d.valid() {
		return fail(ErrDType, "the zero DType")
	}
	count := uint64(1)
	for _, n := range shape {
		if n < 0 {
			return fail(ErrShape, "an axis is negative")
		}
		if n > 0 && count > math.MaxInt64/uint64(n) {
			return fail(ErrShape, "the number of elements overflows")
		}
		count *= uint64(n)
	}
	n, ok := bytesOf(count, d)
	if !ok {
		return fail(ErrShape, "the elements are no whole number of bytes, or too many")
	}
	return n, nil
}

// bytesOf is the length of count elements. It is false if that is no whole number of bytes, or
// overflows.
func bytesOf(count uint64, d DType) (int64, bool) {
	bits := uint64(d.Bits())
	if count > math.MaxInt64/8/8 || count*bits%8 != 0 {
		return 0, false
	}
	return int64(count * bits / 8), true
}
