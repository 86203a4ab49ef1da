// Package hal orders work on an ane.Device by timelines: a queue starts a batch of command buffers when its semaphores
// have reached their values.
//
//	Device -> Buffer, Executable -> CommandBuffer -> Queue.Execute(waits, signals)
//
// The design is that of IREE's hardware abstraction layer, and of its Metal driver.
//
// # Timelines
//
// A Semaphore has a value that only grows. A Point is a value of a Semaphore: it is reached when the Semaphore has that
// value or a higher one. The host signals by Semaphore.Signal and waits by Semaphore.Wait, OnReach, WaitAll and
// WaitAny; the queue does both for submissions. A submission waits for all of its waits, runs its batch, and signals.
// Points are the only order among submissions, which may arrive in any order. No call of Queue blocks.
//
// A failed submission fails the Semaphores of its signals, and so every submission that waits for them. Such an error
// matches ErrFailed and the first cause. Points that were reached before stay reached.
//
// # Memory
//
// A Buffer is a run of bytes on a unimem.Block. NewBuffer makes the Block, and Import takes the caller's. A Buffer of
// Queue.Alloca exists from one point of a timeline until that of Queue.Dealloca. Its ranges can be recorded before the
// memory exists; a batch that starts without the memory fails with ErrClosed and runs nothing.
// Two Buffers may be of the same memory. Ranges are compared by the bytes of memory that they hold, not by Buffers.
//
// # Commands
//
// A CommandBuffer records commands: Fill, Copy, Update, Dispatch and Barrier. Recording captures patterns, data and
// maps. End encodes the whole sequence, and joins neighboring fills and copies. It places a barrier only before a
// command that shares bytes with an earlier one after the last barrier, if at least one of the two writes them. The
// effect is that of running the commands one after another as recorded, with or without Barrier.
//
// An engine evaluates one request of a batch at a time, so an encoded barrier has no effect yet; Stats counts it.
// Submissions without an edge between them run at once, on one engine and on several. So record independent work into
// command buffers of separate submissions.
//
// A Dispatch evaluates an Executable in place on Ranges. An engine that reads surfaces from byte 0 only, as Apple's
// does, refuses other Ranges with ane.ErrOffset when they are recorded.
//
// No engine of package ane moves bytes without a program, so the CPU runs Fill, Copy and Update in the shared memory, at
// any offset and length. Stats.Polyfills has their number.
//
// # Lifetimes
//
// Every object of a Device may be used by several goroutines, except that one goroutine at a time records into a
// CommandBuffer. Close of a Buffer, CommandBuffer or Executable returns ErrInUse while a submission that names it is
// pending. Device.Close closes what is still open, and leaves the ane.Device to the caller. Nil and zero values are
// closed.
package hal
