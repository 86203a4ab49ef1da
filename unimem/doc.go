// Package unimem hands out memory that every engine of a machine can see, without copies.
//
// A Block is one piece of shared, pinned memory: an IOSurface on macOS, a sealed memfd on
// Linux, heap memory elsewhere (Block.Backing says which). A Tape bumps a cursor through a
// Block, a Grid deals cells of one size, a Layout is the three Tapes of an inference run.
// View gives bytes a type, Map maps a Block a second time through its handle.
//
// # Lifetime
//
// Whoever opens something closes it, once; repeating a Close is harmless. Slices, spans,
// cells and views point into the mapping and die with it: the collector cannot see them,
// so using one after Close is a fault of the caller (PoisonOnClose makes it a crash in
// tests). While somebody else works on a Block, Retain and Release keep it open, and Close
// answers ErrInUse. A Block that becomes unreachable without Close is logged and counted,
// and stays mapped. Live tells what is open.
//
// # Other processes
//
// Block.Share gives a descriptor of the memory that Adopt makes a Block of in another
// process, without a copy; surfaces of macOS travel as mach ports, by SharePort and AdoptPort.
// The pages live until the last Block or descriptor of them is closed, in whichever order.
//
// # Elsewhere
//
// Package surfaces opens Blocks on a library of surfaces of the caller's choice, and on
// surfaces that exist already. Package metal gives a Block to the GPU.
//
// # Memory
//
// Sizes round up to 16 KiB. Pages are zero at first, appear when touched (or at once, with
// Warm) and stay. A Block larger than the machine's memory and swap is refused. On Linux the
// pages are locked as they appear if the memlock limit allows the whole Block, otherwise
// Pinned is false. The memory limit of a container is not looked at: going beyond it by
// touching pages makes the kernel end the process.
//
// # Exhaustion
//
// A system may refuse surfaces for a while, with memory to spare. Such a refusal matches
// ErrExhausted, says what this process has open, and may be repeated later. Before it arrives,
// the functions given to OnExhausted free what their owners can do without, and the refused
// call is made once more. Blocks that are open stay as they are.
//
// # Errors
//
// Every failure is an *Error around one of the sentinels, except on the hot paths (Take,
// TakeOne, TakeSlice, Give), which return the bare sentinel and allocate nothing.
package unimem
