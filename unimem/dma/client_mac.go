//go:build darwin || macrules

package dma

import (
	"context"

	"github.com/anekit/anekit/unimem/dma/internal/iokit"
	"github.com/anekit/anekit/unimem/dma/internal/iokit/dynamic"
)

// system loads IOKit.
func system() (*iokit.Table, error) {
	table, err := dynamic.Load(dynamic.Path)
	if err != nil {
		return nil, &Error{Op: "open", Offset: -1, Err: ErrUnavailable, Cause: err}
	}
	return table, nil
}

// open connects to the extension dext_iosurface_pa.
func open(ctx context.Context, opts []Option) (*Device, error) {
	table, err := system()
	if err != nil {
		return nil, err
	}
	c, err := connectTo(ctx, table, memoryService)
	if err != nil {
		return nil, err
	}
	return New(c, opts...), nil
}

// OpenAllocator connects to the extension of the folder dext/dext_contiguous_alloc. The error is ErrUnavailable on
// other systems than macOS, and on a Mac without the extension.
//
// It was never run on a Mac.
func OpenAllocator(ctx context.Context) (*Allocator, error) {
	table, err := system()
	if err != nil {
		return nil, err
	}
	return newAllocator(ctx, table)
}
