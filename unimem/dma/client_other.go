//go:build !darwin && !macrules

package dma

import "context"

// OpenAllocator connects to the extension of the folder dext/dext_contiguous_alloc. The error is ErrUnavailable on
// other systems than macOS, and on a Mac without the extension.
//
// It was never run on a Mac.
func OpenAllocator(ctx context.Context) (*Allocator, error) {
	return nil, &Error{Op: "open", Offset: -1, Err: ErrUnavailable,
		Hint: "the driver extension needs macOS on Apple silicon; unimem.Open needs neither"}
}
