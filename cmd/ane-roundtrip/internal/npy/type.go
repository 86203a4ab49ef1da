package npy

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// codes are the types that can be read and written, as NumPy's "array interface protocol" has them: a letter and the
// number of bytes. In a bool array each element is a byte, 0 for false.
var codes = map[mil.DType]string{
	mil.FP16: "f2", mil.FP32: "f4", mil.FP64: "f8", mil.Bool: "b1",
	mil.Int8: "i1", mil.Int16: "i2", mil.Int32: "i4", mil.Int64: "i8",
	mil.UInt8: "u1", mil.UInt16: "u2", mil.UInt32: "u4",
}

// foreign are other types of NumPy, by the letters of their codes: the fault, and the remedy or the nearest type.
var foreign = [...]struct {
	letters, what, fix string
	like               mil.DType
}{
	{letters: "c", what: "is complex",
		fix: "save the real and the imaginary part separately, e.g. arr.real.astype('<f4')"},
	{letters: "V", what: "is structured or raw", fix: saveField}, // but for V2: see setType
	{letters: "USa", what: "is text", like: mil.FP32},
	{letters: "O", what: "holds Python objects", like: mil.FP32},
	{letters: "u", what: "is not supported", like: mil.Int64},
	{letters: "Mm", what: "is a date or a duration", like: mil.Int64},
}

// saveField is the remedy for a structured type.
const saveField = "save one field as numbers, e.g. arr['name'].astype('<f4')"

// Name is NumPy's name of a type.
func Name(t mil.DType) string {
	if t == mil.BF16 {
		return "bfloat16" // of ml_dtypes
	}
	return strings.Replace(t.String(), "fp", "float", 1)
}

// descr is the type string of NumPy; single bytes have no byte order.
func descr(t mil.DType) string {
	if t.Size() == 1 {
		return "|" + codes[t]
	}
	return "<" + codes[t]
}

// setType finds the type of a type string, and whether its numbers are big-endian. "=" is the order of the machine that
// reads, little-endian wherever this package is used with NumPy's files.
//
// V2 is two bytes of any kind. NumPy writes it for the bfloat16 of ml_dtypes, for which its format has no name, and
// hardly for anything else: it is read as bfloat16, and the Array says so.
func (a *Array) setType(value string) *Error {
	if value[0] != '\'' && value[0] != '"' {
		return fault(0, saveField, "the array has a structured type")
	}
	value = value[1 : len(value)-1]
	refuse := func(what, fix string, like mil.DType) *Error {
		if fix == "" {
			fix = fmt.Sprintf("save it with arr.astype('%s')", descr(like))
		}
		return &Error{What: fmt.Sprintf("type %q %s", value, what), Fix: fix, Like: like}
	}
	order, code := value[:min(len(value), 1)], value[min(len(value), 1):]
	if code == "V2" && strings.Contains("<=|", order) {
		a.Type, a.Raw = mil.BF16, true
		return nil
	}
	for t, known := range codes {
		if known != code {
			continue
		}
		a.Type, a.Swapped = t, order == ">" && t.Size() > 1
		switch {
		case order == "|" && t.Size() > 1:
			return refuse("has no byte order", "", t)
		case !strings.Contains("<=>|", order):
			return refuse("has an unknown byte order", "", t)
		}
		return nil
	}
	for _, f := range foreign {
		if strings.IndexAny(code, f.letters) == 0 {
			return refuse(f.what, f.fix, f.like)
		}
	}
	return refuse("is not supported", "", mil.FP32)
}
