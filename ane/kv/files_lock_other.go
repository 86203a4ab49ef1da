//go:build !darwin && !linux

package kv

import "os"

// lockable reports that there is no lock, and that an open file is not renamed.
const lockable = false

// claim reports true.
func claim(*os.File, bool) bool { return true }

// vectors is a file that moves one part after another.
type vectors struct{ *os.File }
