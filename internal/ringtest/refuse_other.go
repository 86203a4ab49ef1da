//go:build !linux || macrules

package ringtest

// Main does nothing: only Linux has io_uring.
func Main() {}
