//go:build !linux || macrules

package weightbench

import "errors"

func drop(string) error { return errors.ErrUnsupported }

// CanDrop reports whether the page cache can be told to drop a file.
func CanDrop() bool { return false }

// free is a guess.
func free(string) int64 { return guess }
