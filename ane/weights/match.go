package weights

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Names returns the name of the tensor for an input or constant of a program, empty for one
// that no tensor belongs to. A nil Names returns its argument.
type Names func(name string) string

func (n Names) of(name string) string {
	if n == nil {
		return name
	}
	return n(name)
}

// same has the type of a file that a type of a program is stored as, without conversion.
var same = map[mil.DType]safetensors.DType{
	mil.FP16: safetensors.F16, mil.FP32: safetensors.F32, mil.FP64: safetensors.F64, mil.BF16: safetensors.BF16,
	mil.Bool: safetensors.Bool, mil.Int8: safetensors.I8, mil.UInt8: safetensors.U8, mil.Int16: safetensors.I16,
	mil.UInt16: safetensors.U16, mil.Int32: safetensors.I32, mil.UInt32: safetensors.U32,
}

// fit refuses a tensor for a type and shape of a program. convert reports whether its elements
// become halves. Axes of length 1 do not matter: a linear layer may be stored as a convolution.
func fit(op, name string, t safetensors.Tensor, want mil.DType, shape []int) (convert bool, err error) {
	have := t.Shape()
	if packs(t, want, shape) {
		return false, nil
	}
	if !slices.Equal(squeeze(have), squeeze(shape)) {
		return false, &ane.Error{Op: op, Name: name, Err: ane.ErrMismatch,
			Detail: fmt.Sprintf("the program has shape %v, tensor %q has %v", shape, t.Name(), have)}
	}
	if d, ok := same[want]; ok && d == t.DType() {
		return false, nil
	}
	if want == mil.FP16 && (t.DType() == safetensors.F32 || t.DType() == safetensors.BF16) {
		return true, nil
	}
	return false, &ane.Error{Op: op, Name: name, Err: ane.ErrType,
		Detail: fmt.Sprintf("the program has %v, tensor %q has %v", want, t.Name(), t.DType()),
		Hint:   "only F32 and BF16 are converted, to fp16"}
}

// packs reports whether a tensor has unsigned integers of 2 to 8 bits of a shape in words of 32 or 8 bits, as MLX
// writes them. Each row is in whole words, without gaps, from the low bits up.
func packs(t safetensors.Tensor, want mil.DType, shape []int) bool {
	have, bits := t.Shape(), want.Bits()
	if t.DType() != safetensors.U32 && (t.DType() != safetensors.U8 || bits == 8) || !want.Unsigned() || bits < 2 ||
		bits > 8 || len(have) == 0 {
		return false
	}
	for len(shape) > len(have) && shape[len(shape)-1] == 1 {
		shape = shape[:len(shape)-1]
	}
	if len(shape) != len(have) {
		return false
	}
	last := len(have) - 1
	return slices.Equal(shape[:last], have[:last]) && shape[last]*bits == have[last]*t.DType().Bits()
}

func squeeze(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 1 })
}
