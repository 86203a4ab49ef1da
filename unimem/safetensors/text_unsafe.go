package safetensors

import "unsafe"

// text is b as a string, without a copy. b must not change as long as the string is used.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
