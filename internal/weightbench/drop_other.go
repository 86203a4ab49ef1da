//go:build !linux

package weightbench

import "errors"

func drop(string) error { return errors.ErrUnsupported }

// CanDrop reports whether the page cache can be told to drop a file.
func CanDrop() bool { return false }

// room is a guess: 4 GiB, so that files of up to 1 GiB are made.
func room(string) int64 { return 4 << 30 }

// resident is unknown.
func resident() (own, files int64) { return 0, 0 }
