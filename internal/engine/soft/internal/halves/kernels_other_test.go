//go:build !amd64 && !arm64

package halves

// kernels lists the kernels that this processor has.
func kernels() []int { return []int{portable} }
