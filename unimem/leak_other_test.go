//go:build !linux || macrules

package unimem_test

import "fmt"

func lowerLimits() error { return nil }

// systemLeaks returns nothing where memory has no descriptors; the test counts open Blocks.
func systemLeaks() []string { return nil }

// playShare fails where memory has no descriptors.
func playShare(part string) error { return fmt.Errorf("only Linux has a %s", part) }
