//go:build !linux

package unimem_test

import "fmt"

func lowerLimits() error { return nil }

// systemLeaks has nothing to add where memory is not of the file system; the count of open
// Blocks stands alone.
func systemLeaks() []string { return nil }

// playShare has no parts where memory has no descriptors.
func playShare(part string) error { return fmt.Errorf("only Linux has a %s", part) }
