package halves

// kernels lists the kernels that this processor has.
func kernels() []int { return []int{portable, neon} }
