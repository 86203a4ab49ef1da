package packed

// dotFloats adds the products of a and b to 64 sums. The bits are those of kernels of other machines.
//
//go:noescape
func dotFloats(bits int, lanes *[Lanes]float32, a, b *float32, chunks int)
