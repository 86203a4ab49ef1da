package blob

import "unsafe"

// raw returns the memory of list as bytes, which are little endian on the machines of this module.
func raw[T ~uint16 | ~float32](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}
