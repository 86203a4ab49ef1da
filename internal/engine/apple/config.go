package apple

import (
	"context"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Config selects the framework and how the engine gets a Block's surface.
type Config struct {
	Name     string // on receipts: "apple", "standin"
	Numerics string // on receipts: how sums and roundings are done
	Sharing  string // on receipts: how the engine reaches surfaces
	Bridge   objcbridge.Options
	// Memory are the options for opening Blocks of the known-answer run.
	Memory []unimem.Option
	// Surface returns the IOSurface of a Block. The default, nil, uses Block.Handle and
	// rejects Blocks without an IOSurface.
	Surface func(*unimem.Block) (Surface, error)
	// Patience bounds calls that have no context, such as Bind and Close; 0 means 30 s.
	Patience time.Duration
	// Pause waits before a load is sent again for which the machine has no program slot. It
	// returns false if ctx ends before. nil means Pause.
	Pause func(ctx context.Context, d time.Duration) bool
	// Observe, which may be nil, runs at the end of Open, even if that failed. It gets the framework's facts about the
	// known-answer program, and the framework's errors.
	Observe func(Known, []Met)
	// Open, which may be nil, runs before the framework is loaded. If it succeeds, Close
	// runs after the engine has released everything.
	Open, Close func() error
}

// minSurface is ane.Info.MinSurface: one project on an M4 met status 0x1d on smaller
// surfaces and on those of unequal size; five others run with less.
const minSurface = 49152

// Name is the name of this engine for engine.Open and on receipts.
const Name = "apple"

// Apple is the framework of macOS.
func Apple() Config {
	return Config{
		Name:     Name,
		Numerics: "hardware: fp16 with the engine's own order of sums",
		Sharing:  "the engine's own mapping of each IOSurface",
		Bridge:   objcbridge.Options{Framework: objcbridge.AppleFramework, IOKit: objcbridge.AppleIOKit},
	}
}

// Surface is what the framework gets for a Block.
type Surface struct {
	Ref     uintptr      // IOSurfaceRef; another one may refer to the same surface
	ID      uint32       // IOSurfaceID
	Bytes   []byte       // the engine's own mapping, if this process has it
	Release func() error // nil if there is nothing to release
}

// ownSurface returns the IOSurface of a Block.
func ownSurface(b *unimem.Block) (Surface, error) {
	if b.Backing() != "IOSurface" {
		return Surface{}, &ane.Error{Op: "bind", Err: ane.ErrMismatch,
			Detail: "memory backed by " + b.Backing(), Rule: "the engine takes IOSurfaces only",
			Hint: "open the Block without OnHeap, on macOS"}
	}
	return Surface{Ref: b.Handle(), ID: b.ID()}, nil
}
