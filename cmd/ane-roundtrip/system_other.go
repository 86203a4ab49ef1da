//go:build !darwin

package main

// systemVersion is empty: what stands in for macOS has none.
func systemVersion() string { return "" }
