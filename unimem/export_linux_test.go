package unimem

// CreateError is what a system call's failure becomes.
func CreateError(op, step string, size int, err error) error { return createError(op, step, size, err) }
