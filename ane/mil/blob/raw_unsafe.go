package blob

import "unsafe"

// raw returns the memory of list as bytes.
func raw[T ~uint16 | ~float32](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}
