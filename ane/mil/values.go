package mil

import (
	"cmp"
	"strconv"
	"strings"
)

// The functions below make typed literals for arguments and for FuncBuilder.Const. Floating-point numbers are written
// exactly, as C99 hexadecimal floats; the compiler of the program rounds them to the declared type.

// FP16Scalar returns fp16(x).
func FP16Scalar(x float64) *Value { return scalar(FP16, hexFloat(x)) }

// FP32Scalar returns fp32(x).
func FP32Scalar(x float64) *Value { return scalar(FP32, hexFloat(x)) }

// Int32Scalar returns int32(n).
func Int32Scalar(n int) *Value { return scalar(Int32, whole(n)) }

// IntScalar returns a scalar of the integer type d.
func IntScalar(d DType, n int) *Value { return scalar(d, whole(n)) }

// BoolScalar returns bool(b).
func BoolScalar(b bool) *Value { return scalar(Bool, BoolLit{Value: b}) }

// StringScalar returns string(s).
func StringScalar(s string) *Value { return scalar(String, StringLit{Value: s}) }

// Int32s returns the vector tensor<int32, [n]>([..]).
func Int32s(list ...int) *Value { return Ints(TensorOf(Int32, len(list)), list) }

// BoolVec returns the vector tensor<bool, [n]>([..]).
func BoolVec(list ...bool) *Value {
	return tensor(TensorOf(Bool, len(list)), list, func(b bool) Literal { return BoolLit{Value: b} })
}

// Ints returns a tensor of the integer type t, its elements row-major.
func Ints(t Type, elements []int) *Value { return tensor(t, elements, whole) }

// Floats returns a tensor of the floating-point type t, its elements row-major.
func Floats(t Type, elements []float64) *Value { return tensor(t, elements, hexFloat) }

// BlobValue returns a tensor whose elements are the entry of a weight file whose metadata starts at offset, in bytes.
func BlobValue(t Type, path string, offset uint64) *Value {
	return &Value{Type: t, Literal: &Blob{
		Path:   StringScalar(path),
		Offset: scalar(UInt64, Number{Text: strconv.FormatUint(offset, 10)}),
	}}
}

func scalar(d DType, l Literal) *Value { return &Value{Type: ScalarOf(d), Literal: l} }

func tensor[T any](t Type, elements []T, literal func(T) Literal) *Value {
	l := &ListLit{Items: make([]Literal, len(elements))}
	for i, e := range elements {
		l.Items[i] = literal(e)
	}
	return &Value{Type: t, Literal: l}
}

func whole(n int) Literal { return Number{Text: strconv.Itoa(n)} }

// hexFloat writes x exactly, in the form 0x1.8p-3, inf or nan.
func hexFloat(x float64) Literal {
	text := strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'x', -1, 64), "+"))
	mantissa, exponent, finite := strings.Cut(text, "p")
	if !finite {
		return Number{Text: text}
	}
	// Go writes at least two digits of the exponent, C as few as possible.
	digits := cmp.Or(strings.TrimLeft(exponent[1:], "0"), "0")
	return Number{Text: mantissa + "p" + exponent[:1] + digits}
}
