// Package metal orders work of a Mac's GPU by the timelines of package hal, so that CPU, engine and GPU take turns on
// one Block. It does for unimem/metal what ane/hal/vulkan does for unimem/vulkan.
//
//	b                    a unimem.Block
//	device.Import(b)     its hal.Buffer, for programs of the engine
//	gpu.NewBuffer(b)     its Buffer of package unimem/metal, for kernels of the GPU
//
//	queue.Execute(ctx, waits, signals, metal.Dispatch{..})     on the GPU
//	device.Queue().Execute(ctx, waits, signals, commands)      on the engine
//
// # Two bridges
//
// A Queue starts work on the GPU when its waits are reached, and signals when it has ended. A failed wait starts
// nothing and fails the signals, as hal.Queue does.
//
// A Pair joins a hal.Semaphore and an Event, an MTLSharedEvent: a value that one reaches, the other reaches too. It is
// for work that is submitted to the GPU before its waits are reached, and waits there.
//
// # Platforms
//
// A Device of unimem/metal exists only on macOS. The package is compiled everywhere and was never run on a Mac; its
// tests run it against a fake GPU.
package metal
