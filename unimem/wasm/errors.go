package wasm

import (
	"errors"
	"fmt"
)

// The kinds of error of a call, for errors.Is. Errors of package unimem keep their own kinds.
var (
	// ErrBounds: a range that is not within the memory that the guest has now.
	ErrBounds = errors.New("range is outside of the guest's memory")
	// ErrAligned: an offset or a length that is not a multiple of Align.
	ErrAligned = errors.New("range is not aligned")
	// ErrOverlap: a range that shares pages with another Region's surface.
	ErrOverlap = errors.New("range shares pages with another surface")
	// ErrLimit: a guest whose memory begins larger than the limit.
	ErrLimit = errors.New("memory is beyond the limit")
	// ErrClosed: the guest is closed.
	ErrClosed = errors.New("guest is closed")
	// ErrUnsupported: this system cannot map a surface over a guest's memory.
	ErrUnsupported = errors.New("surfaces cannot be mapped over memory here")
)

// fault is the error of a range of a guest's memory.
func fault(kind error, offset, length uint64, format string, args ...any) error {
	return fmt.Errorf("wasm: range [%d, +%d): %w: %s", offset, length, kind, fmt.Sprintf(format, args...))
}
