//go:build !linux || macrules

package host

// Release returns nothing: only Linux has a file with it.
func Release() string { return "" }
