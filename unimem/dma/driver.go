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
