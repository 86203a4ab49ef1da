//go:build !macrules

package unimem

// CreateError returns the error of a failed system call.
func CreateError(op, step string, size int, err error) error { return createError(op, step, size, err) }
