package dma

import "context"

// Open connects to the driver extension of the folder dext and returns a Device that sends its calls there. It was
// never run on a Mac.
//
// Errors: ErrUnavailable (another system than macOS, or a Mac without the extension), ErrRefused, ErrDriver (the
// extension has another version), the cause of ctx.
func Open(ctx context.Context, opts ...Option) (*Device, error) {
	table, err := system()
	if err != nil {
		return nil, err
	}
	c, err := connectTo(ctx, table, extensionService)
	if err != nil {
		return nil, err
	}
	return New(c, opts...), nil
}

// OpenAllocator connects to the driver extension for memory that the extension allocates. It was never run on a Mac.
//
// Errors: those of Open.
func OpenAllocator(ctx context.Context) (*Allocator, error) {
	table, err := system()
	if err != nil {
		return nil, err
	}
	return newAllocator(ctx, table)
}
