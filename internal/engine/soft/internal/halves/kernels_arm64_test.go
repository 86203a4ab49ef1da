package halves

// kernels lists the kernels that this processor has.
func kernels() []string { return []string{portable, neon} }
