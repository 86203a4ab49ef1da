// Package unimem allocates memory that every engine of a machine can access without copies.
//
// A Block is one piece of shared memory: an IOSurface on macOS, a sealed memfd on Linux, heap memory elsewhere.
// Block.Backing returns which, and Block.Key identifies the memory among processes. A Tape allocates spans of a Block
// one after the other, or of several Blocks with InBlocks and SurfacePerSpan. A Grid allocates cells of one size, a
// Layout is the three Tapes of an inference run. View converts bytes to a type. Map maps a Block again through its
// handle.
//
// # Lifetime
//
// The caller that opens an object closes it, once; a repeated Close does nothing. Slices, spans, cells and views point
// into the mapping, where the collector cannot see them: the caller must not use one after Close. PoisonOnClose makes
// that a crash in tests. Retain and Release keep a Block open for another user; Close returns ErrInUse until then. So
// does Close of a Grid while cells are taken, except with StaleOnClose. A Grid refuses a stale Give, of any size and
// after any number of takes. A Block that becomes unreachable without Close is logged and counted, and stays mapped.
// Live returns what is open.
//
// # Types
//
// Views have types whose every byte pattern is a value: numbers, and structs and arrays of them. A type with a pointer
// is ErrPointerType, one with a bool ErrBoolType: memory may hold bytes other than 0 and 1, and such a bool indexes out
// of bounds. Use uint8 instead. The check of a type is cached and allocates nothing of the type's size.
//
// # Other processes
//
// Block.Share returns a descriptor of the memory, and Adopt makes a Block of it in another process, without a copy.
// Surfaces of macOS are shared as mach ports, by SharePort and AdoptPort. The pages exist until the last Block or
// descriptor of them is closed, in any order. AdoptMemory makes a Block of memory that another library of this process
// owns. The packages below this one do more with a Block: metal and vulkan compute on it, safetensors reads weights to
// it, dma gives it addresses for devices.
//
// # Memory
//
// Sizes round up to 16 KiB. Pages are zero at first. The system allocates them when they are touched, or at once with
// Warm, on the NUMA node of the thread that touches them unless a policy of the process says otherwise. A Block larger
// than the machine's memory and swap is refused, and so are a Layout and the cells of a Grid that are larger together.
//
// On Linux pages are locked when they are allocated if the memlock limit allows the whole Block. Otherwise Pinned is
// false and Unpinned returns the reason. Whether the pages of an IOSurface are wired is unknown, so Pinned is false.
//
// No memory is checked against the limit of a container: if touching pages exceeds it, the kernel kills the process.
// Heap memory from 1 MiB on is checked against GOMEMLIMIT and the limits on address space and data, because the runtime
// ends a process whose heap the system refuses. Beyond them Open returns ErrExhausted.
//
// A Linux without memfd_create (an old kernel, a filter of system calls) gives an unlinked file in /dev/shm instead.
// All its pages are allocated at once, because that file system may be small, and Share refuses it.
//
// # Exhaustion
//
// A system may refuse surfaces or memory for a while although some is free. The error matches ErrExhausted and has what
// this process has open; the caller may retry later. Before the error is returned, the functions of OnExhausted free
// idle memory and the refused call is retried once. Open Blocks do not change.
//
// # Errors
//
// Every error is an *Error with one of the sentinels, except on the hot paths (Take, TakeOne, TakeSlice, Give), which
// return the bare sentinel and allocate nothing.
package unimem
