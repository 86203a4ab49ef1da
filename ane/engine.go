package ane

import "context"

// Engine is what an implementation provides. Its methods may be called from
// several goroutines. Users call them through a Device.
type Engine interface {
	// Info describes the engine. It does not change while the engine is open.
	Info() Info
	// Compile turns a program into an Executable or tells every fault in it. It takes
	// the program by Source.Tree or Source.MIL, whichever it needs.
	Compile(ctx context.Context, src Source) (Executable, error)
	// Close frees what the engine holds. Every Executable is closed before.
	Close() error
}

// Executable is one compiled program inside an Engine. Load, Unload, Prepare and
// Close are called one at a time; Unload and Close never during an Evaluate.
// Invocations may be evaluated and closed by other goroutines meanwhile.
type Executable interface {
	// Inputs and Outputs give the tensors in the order of the program's text.
	Inputs() []Layout
	Outputs() []Layout
	// Cached reports whether Compile found the program in a cache.
	Cached() bool
	// Notes are remarks of the compiler that are no faults.
	Notes() []string
	// Load makes the program ready to run; Unload undoes it.
	Load(ctx context.Context) error
	Unload(ctx context.Context) error
	// Prepare ties tensors to the program, in the order of Inputs and Outputs.
	// The tensors were checked against the layouts, and their Blocks are held
	// until the Invocation is closed.
	Prepare(in, out []*Tensor) (Invocation, error)
	// Close frees the program. It is unloaded and its Invocations are closed.
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

// Viewer is an Invocation that shows the bytes through which the engine itself
// reads and writes. Engines in another address space cannot.
type Viewer interface {
	// InputView and OutputView return the engine's bytes of tensor i.
	InputView(i int) []byte
	OutputView(i int) []byte
}

// Peer is an Invocation of an engine in another process. It tells where that
// process has the tensors' surfaces mapped, so that page frames can be compared.
type Peer interface {
	// Peer returns the process and the address of the first byte of each input's
	// and output's surface there.
	Peer() (pid int, inputs, outputs []uintptr)
}

// Metered is an Engine in another process, which counts what goes over the
// connection in bytes.
type Metered interface {
	// Traffic returns what was sent and received so far; ok is false when the
	// engine is in this process after all.
	Traffic() (sent, received int64, ok bool)
}

// Info describes an engine.
type Info struct {
	Name     string // "apple", "soft", ..
	Chip     string // architecture such as "h13g", or the software's own name
	OSBuild  string // build of the operating system
	Numerics string // how sums and roundings are done
	Sharing  string // how the engine reaches the tensors' pages
	Offsets  bool   // whether a tensor may start behind byte 0 of its surface
}
