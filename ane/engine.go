package ane

import (
	"context"

	"github.com/anekit/anekit/ane/mil"
)

// Engine is an implementation of a Neural Engine. Its methods are safe for concurrent
// use. Users call them through a Device.
type Engine interface {
	// Info describes the engine. It does not change while the engine is open.
	Info() Info
	// Compile compiles a program to an Executable, or returns every fault in it. It
	// reads the program by Source.Tree or Source.MIL.
	Compile(ctx context.Context, src Source) (Executable, error)
	// Close frees the engine's resources. Every Executable is closed before.
	Close() error
}

// Executable is one compiled program of an Engine. Load, Unload, Prepare and Close are
// called one at a time; Unload and Close never during an Evaluate. Other goroutines may
// evaluate and close Invocations during the other calls. An Executable whose engine follows
// Source.Residency has a method Residency() Residency for receipts.
type Executable interface {
	// Inputs and Outputs return the layouts in the order of the program's text.
	Inputs() []Layout
	Outputs() []Layout
	// Cached reports whether Compile found the program in a cache.
	Cached() bool
	// Notes are remarks of the compiler that are not faults.
	Notes() []string
	// Load makes the program ready to run; Unload reverses Load.
	Load(ctx context.Context) error
	Unload(ctx context.Context) error
	// Prepare binds tensors to the program, in the order of Inputs and Outputs. The
	// Device has checked the tensors against the layouts, and holds their Blocks
	// until the Invocation is closed.
	Prepare(in, out []*Tensor) (Invocation, error)
	// Close frees the program. Before, it is unloaded and its Invocations are closed.
	Close() error
}

// Invocation is a prepared run: the same tensors, evaluated any number of times
// by one goroutine at a time.
type Invocation interface {
	// Evaluate reads the inputs and writes the outputs. It returns an error
	// matching ErrDeadline soon after ctx ends.
	Evaluate(ctx context.Context) error
	Close() error
}

// Info describes an engine.
type Info struct {
	Name     string // "apple", "soft", ..
	Chip     string // architecture such as "h13g", or the software's own name
	OSBuild  string // build of the operating system
	Numerics string // how the engine sums and rounds
	Sharing  string // how the engine accesses the tensors' pages
	Offsets  bool   // whether a tensor may start after byte 0 of its surface

	// MinSurface is the least number of bytes of a surface that every version of the engine
	// takes. Where it is not 0, some versions also want surfaces of one size on each side of
	// a request; see Model.SurfaceSize. Both are wishes: the engine gets smaller surfaces too.
	MinSurface int

	// Dialect is the newest dialect of MIL that the engine's compiler reads. OldText is that of macOS 13 and 14, where
	// Apple's engine prints a Source.Program in it and refuses a Text in another one.
	Dialect mil.Dialect
}
