package blob

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// Tag is the scalar type of an entry, as the file numbers it.
type Tag uint32

// The two tags that have no type in MIL text: floats of 8 bits with 4 and with 5 bits of exponent.
const (
	Float8E4M3FN Tag = 16
	Float8E5M2   Tag = 17
)

// tags has the type of each tag, from BlobDataType in coremltools. Weight files cannot store other types.
var tags = [...]mil.DType{
	1: mil.FP16, 2: mil.FP32, 3: mil.UInt8, 4: mil.Int8, 5: mil.BF16, 6: mil.Int16, 7: mil.UInt16,
	8: mil.Int4, 9: mil.UInt1, 10: mil.UInt2, 11: mil.UInt4, 12: mil.UInt3, 13: mil.UInt6,
	14: mil.Int32, 15: mil.UInt32,
}

// TagOf returns the tag of a type; ok is false for types that weight files cannot store.
func TagOf(d mil.DType) (t Tag, ok bool) {
	i := slices.Index(tags[1:], d)
	return Tag(i + 1), i >= 0
}

// Known reports whether the format defines t.
func (t Tag) Known() bool { return t > 0 && t <= Float8E5M2 }

// DType returns the type in MIL text, or NoType.
func (t Tag) DType() mil.DType {
	if int(t) < len(tags) {
		return tags[t]
	}
	return mil.NoType
}

// Bits is the width of an element in bits, 0 for an unknown tag.
func (t Tag) Bits() int {
	if t == Float8E4M3FN || t == Float8E5M2 {
		return 8
	}
	return t.DType().Bits()
}

// String returns the type as MIL text spells it, or as the file numbers it.
func (t Tag) String() string {
	switch d := t.DType(); {
	case t == Float8E4M3FN:
		return "fp8e4m3fn"
	case t == Float8E5M2:
		return "fp8e5m2"
	case d != mil.NoType:
		return d.String()
	}
	return fmt.Sprintf("type %d", uint32(t))
}
