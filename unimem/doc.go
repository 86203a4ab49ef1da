// Package unimem allocates memory that every engine of a machine can access without copies.
//
// A Block is one piece of shared memory: an IOSurface on macOS, a sealed memfd on Linux, heap memory elsewhere. A Tape
// allocates spans of a Block one after the other, or of several Blocks with InBlocks and SurfacePerSpan. A Grid
// allocates cells of one size, a Layout is the three Tapes of an inference run. View converts bytes to a type.
//
// # Lifetime
//
// The caller that opens an object closes it, once; a repeated Close does nothing. Slices, spans, cells and views point
// into the mapping, where the collector cannot see them: the caller must not use one after Close. PoisonOnClose makes
// that a crash in tests. Retain keeps a Block open for another user until Release; Close returns ErrInUse meanwhile. A
// Block that becomes unreachable without Close is logged and counted, and stays mapped. Live returns what is open.
//
// # Memory
//
// Sizes round up to 16 KiB. Pages are zero at first. The system allocates them when they are touched, or at once with
// Warm. Memory is not checked against the limit of a container: if touching pages exceeds it, the kernel ends the
// process.
//
// On Linux pages are locked when they are allocated if the memlock limit allows the whole Block. Otherwise Pinned is
// false and Unpinned returns the reason. Whether the pages of an IOSurface are wired is unknown, so Pinned is false.
//
// # Other processes
//
// Block.Share returns a descriptor of the memory, and Adopt makes a Block of it in another process, without a copy. The
// pages exist until the last Block or descriptor of them is closed, in any order.
//
// # Errors
//
// Every error is an *Error with one of the sentinels. The hot paths (Take, TakeOne, TakeSlice, Give) return the bare
// sentinel and allocate nothing. ErrExhausted may be temporary; see OnExhausted.
package unimem
