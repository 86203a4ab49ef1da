//go:build darwin || macrules

package dma

import "context"

// Open connects to the driver extension of the folder dext and returns a Device that sends its calls there.
// The error is ErrUnavailable on other systems than macOS, and on a Mac without the extension.
//
// It was never run on a Mac.
func Open(ctx context.Context, opts ...Option) (*Device, error) { return open(ctx, opts) }
