package apple

import (
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Config says which framework to drive and how to reach a Block's surface.
type Config struct {
	Name     string // on receipts: "apple", "standin"
	Numerics string // on receipts: how sums and roundings are done
	Sharing  string // on receipts: how the engine reaches surfaces
	Bridge   objcbridge.Options
	// Memory is how Blocks of the known-answer run are opened.
	Memory []unimem.Option
	// Surface finds or makes the IOSurface of a Block. Nil takes Block.Handle,
	// and refuses Blocks that are no IOSurface.
	Surface func(*unimem.Block) (Surface, error)
	// Patience is how long calls that take no context, such as Bind and Close, wait
	// for the framework; 0 means 30 s.
	Patience time.Duration
	// Observe, which may be nil, is told at the end of Open, also when that failed, what the
	// framework said of the known-answer program and which errors were met.
	Observe func(Known, []Met)
	// Async evaluates through completion handlers instead of blocking calls.
	Async bool
	// Open, which may be nil, runs before the framework is loaded; Close, if Open
	// succeeded, after the engine has let go of everything.
	Open, Close func() error
}

// Name is what engine.Open and receipts call this engine on macOS.
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

// Surface is what the framework is given for a Block.
type Surface struct {
	Ref     uintptr      // IOSurfaceRef
	Bytes   []byte       // the engine's own view, where this process can see it
	Release func() error // nil when there is nothing to undo
}

// ownSurface is the IOSurface that a Block is.
func ownSurface(b *unimem.Block) (Surface, error) {
	if b.Backing() != "IOSurface" {
		return Surface{}, &ane.Error{Op: "bind", Err: ane.ErrMismatch,
			Detail: "memory backed by " + b.Backing(), Rule: "the engine takes IOSurfaces only",
			Hint: "open the Block without OnHeap, on macOS"}
	}
	return Surface{Ref: b.Handle()}, nil
}
