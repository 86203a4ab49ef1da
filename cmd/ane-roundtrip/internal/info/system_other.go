//go:build !darwin && !macrules

package info

// systemVersion is empty on systems other than macOS.
func systemVersion() string { return "" }
