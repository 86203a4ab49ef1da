//go:build !linux

package unimem_test

func lowerLimits() error { return nil }

// systemLeaks has nothing to add where memory is not of the file system; the count of open
// Blocks stands alone.
func systemLeaks() []string { return nil }
