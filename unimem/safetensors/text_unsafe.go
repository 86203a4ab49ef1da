package safetensors

import (
	"unsafe"

	"github.com/anekit/anekit/ane/fp16"
)

// text is b as a string, without a copy. b must not change as long as the string is used.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// rawBytes is the memory of numbers.
func rawBytes[T fp16.Brain | float32](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
