//go:build !linux

package ringtest

// Main does nothing: only Linux has io_uring.
func Main() {}
