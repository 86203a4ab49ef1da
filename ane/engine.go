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

// Viewer is an Invocation that returns the engine's own mapping of the tensors. An
// engine in another address space has none.
type Viewer interface {
	// InputView and OutputView return tensor i in the engine's mapping.
	InputView(i int) []byte
	OutputView(i int) []byte
}

// Peer is an Invocation of an engine in another process. It returns the addresses of
// the tensors' surfaces in that process, so that page frames can be compared.
type Peer interface {
	// Peer returns the process and the address of the first byte of each input's
	// and output's surface there.
	Peer() (pid int, inputs, outputs []uintptr)
}

// PeerReporter is a Peer that reports on its own memory, which the system may keep other
// processes from reading.
type PeerReporter interface {
	Peer
	// ReportPeer reports on the surface of tensor i of the inputs, then the outputs. It
	// returns an error matching ErrBusy while the Invocation runs, and ErrLost when the other
	// process has ended.
	ReportPeer(ctx context.Context, i int, q PeerQuery) (PeerReport, error)
}

// PeerQuery says what a PeerReporter reports beside addresses.
type PeerQuery struct {
	Page   int  // first page of the surface whose frame is reported
	Pages  int  // how many, at most 4096; 0 for none
	Memory bool // the amounts of memory, for which the system counts pages one by one
}

// PeerReport is what an engine's process reports on a surface and on itself. Its reader
// takes the process at its word.
type PeerReport struct {
	PID     int
	Address uintptr // of the surface's first byte in that process

	// Frames are the numbers of the pages' frames, 0 for pages after the surface; nil if
	// the system does not show them to that process.
	Frames []uint64

	// Device and Inode identify the memory that is mapped, as stat(2) does, and Offset is
	// the first byte there. Shared means that writes reach the memory. The four are zero
	// without PeerQuery.Memory.
	Device, Inode, Offset uint64
	Shared                bool

	Surface PeerMemory // of the mapping of the surface
	Rest    PeerMemory // of the process without its callers' surfaces and files on disk
}

// PeerMemory is amounts of memory in bytes, as proc_pid_smaps(5) of Linux has them. They
// are zero without PeerQuery.Memory.
type PeerMemory struct {
	Resident     int64 // pages that are present
	Proportional int64 // each page divided by the number of its mappings
	PrivateDirty int64 // written pages that are mapped once
}

// Metered is an Engine in another process, which counts the bytes of its connection.
type Metered interface {
	// Traffic returns the bytes sent and received so far; ok is false if the engine is
	// in this process.
	Traffic() (sent, received int64, ok bool)
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
