//go:build !darwin && !macrules

package main

// systemVersion is empty on systems other than macOS.
func systemVersion() string { return "" }
