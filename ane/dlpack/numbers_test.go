package dlpack

// Numbers returns n numbers at an address.
func Numbers(address uintptr, n int) []int64 { return sliceAt[int64](address, n) }
