//go:build !linux || macrules

package decoderbench

// own is 0: the system does not distinguish own memory from mapped files.
func own() int64 { return 0 }
