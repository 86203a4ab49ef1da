package dma

import (
	"context"

	"github.com/anekit/anekit/unimem"
)

// Driver makes memory of this process reachable for one device. The driver extension is one (see Open), the
// model of Simulate is another. Its methods may be called concurrently.
//
// A method whose context ends should return an error that matches the cause. A method that cannot be interrupted
// returns when it can. The Device stops waiting, retains the Block until then, and completes what a late Prepare has
// mapped.
type Driver interface {
	// Prepare maps the pages of b from byte offset on, a multiple of PageSize. It returns a command and the segments of
	// the first of these bytes in their order, at most MaxSegments. The Device calls it again for bytes that they do
	// not cover. It keeps b open until Complete. After an error nothing is mapped; one that matches ErrExhausted is
	// reported as such, others as ErrRefused.
	Prepare(ctx context.Context, b *unimem.Block, offset int) (Command, []Segment, error)
	// Complete unmaps what Prepare has mapped for a command. After it has returned nil, the device does not access the
	// memory. After an error the pages may still be in use: the Device retains the Block, and calls Complete again.
	Complete(ctx context.Context, c Command) error
	// Close ends the connection. The Device calls it once, after Complete of all commands.
	Close() error
}

// Command is a Driver's name for what one Prepare has mapped, an IODMACommand of the extension.
type Command uint64

// MaxSegments is the largest number of segments that one call of a Driver returns: the length of the array
// in IODMACommand::PrepareForDMA.
const MaxSegments = 32

// PageSize is the page of a DART in bytes.
const PageSize = 16 << 10

// Segment is a range of device addresses, in bytes. It has the two fields of an IOAddressSegment.
type Segment struct{ Address, Length uint64 }

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
