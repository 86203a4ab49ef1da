package objcbridge

import "testing"

// Nothing calls a C function that does nothing, with the arguments of a method without parameters.
func Nothing(b *testing.B) func() {
	nothing := emptyFunction(b)
	args := make([]uintptr, 3)
	return func() { call(nothing, args...) }
}
