// Package libsystem calls functions of macOS's libSystem that Go's packages lack. With the build tag macrules it
// calls the stand-in's library of the same names on Linux. Other builds return ErrUnsupported.
package libsystem

import (
	"errors"
	"fmt"
)

// ErrUnsupported: a call in a build without libSystem.
var ErrUnsupported = errors.New("only macOS has libSystem")

// Error is a call that failed.
type Error struct {
	Call   string
	Code   int64  // kern_return_t of a mach call, errno of another
	Detail string // more than the code says; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: error %d", e.Call, e.Code)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Flags of a page in Mincore's answer, from <sys/mman.h>. A page with neither was never used, or its file has it.
const (
	InCore   = 0x1  // present in memory
	PagedOut = 0x20 // compressed, or on disk
)
