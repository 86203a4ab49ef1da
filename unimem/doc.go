// Package unimem allocates memory that every engine of a machine can access without copies.
//
// A Block is one piece of shared, pinned memory: an IOSurface on macOS, a sealed memfd on
// Linux, heap memory elsewhere (Block.Backing returns which). A Tape allocates spans of a
// Block one after the other, a Grid allocates cells of one size, a Layout is the three Tapes
// of an inference run. View converts bytes to a type, Map maps a Block again through its
// handle.
//
// # Lifetime
//
// The caller that opens an object closes it, once; a repeated Close does nothing. Slices,
// spans, cells and views point into the mapping, where the collector cannot see them: the
// caller must not use one after Close (PoisonOnClose makes that a crash in tests). Retain
// and Release keep a Block open for another user; Close returns ErrInUse meanwhile. A Block
// that becomes unreachable without Close is logged and counted, and stays mapped. Live
// returns what is open.
//
// # Other processes
//
// Block.Share returns a descriptor of the memory, of which Adopt makes a Block in another
// process, without a copy. Surfaces of macOS are shared as mach ports, by SharePort and
// AdoptPort. The pages exist until the last Block or descriptor of them is closed, in any
// order.
//
// # Other packages
//
// Package surfaces opens Blocks on a given library of surfaces, and on existing surfaces.
// Package metal makes a Block accessible to the GPU.
//
// # Memory
//
// Sizes round up to 16 KiB. Pages are zero at first; the system allocates them when they are
// touched (or at once, with Warm). A Block larger than the machine's memory and swap is
// refused. On Linux pages are locked when they are allocated if the memlock limit allows the
// whole Block, otherwise Pinned is false. Open does not check the memory limit of a
// container: if touching pages exceeds it, the kernel kills the process.
//
// # Exhaustion
//
// A system may refuse surfaces for a while although memory is free. The error matches
// ErrExhausted and has what this process has open; the caller may retry later. Before the
// error is returned, the functions of OnExhausted free idle memory and the refused call is
// retried once. Open Blocks do not change.
//
// # Errors
//
// Every error is an *Error with one of the sentinels, except on the hot paths (Take,
// TakeOne, TakeSlice, Give), which return the bare sentinel and allocate nothing.
package unimem
