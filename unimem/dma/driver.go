package dma

import (
	"context"

	"github.com/anekit/anekit/unimem"
)

// Driver makes memory of this process reachable for one device. The driver extension is one (see Open), the
// model of Simulate is another. Its methods may be called concurrently. A method whose context ends returns
// an error that matches the cause, and leaves nothing mapped.
type Driver interface {
	// Prepare maps the pages of b from byte offset on, a multiple of PageSize, and returns a command and
	// the segments of the first of these bytes in their order, at most MaxSegments. What they do not
	// cover needs another call. The caller keeps b open until Complete.
	Prepare(ctx context.Context, b *unimem.Block, offset int) (Command, []Segment, error)
	// Complete unmaps what Prepare has mapped for a command. When it has returned, the device does not
	// access the memory any more. After an error that matches the cause of ctx the pages may still be in
	// use: the Device retains the Block, and calls Complete again.
	Complete(ctx context.Context, c Command) error
	// Close ends the connection, after Complete of all commands.
	Close() error
}

// Command is a Driver's name for what one Prepare has mapped, an IODMACommand of the extension.
type Command uint64
