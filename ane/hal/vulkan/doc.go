// Package vulkan orders work of a GPU by the timelines of package hal, so that CPU, engine and GPU take turns on one
// Block:
//
//	b                    a unimem.Block
//	device.Import(b)     its hal.Buffer, for programs of the engine
//	gpu.Import(ctx, b)   its Buffer of package unimem/vulkan, for kernels of the GPU
//
//	queue.Execute(ctx, waits, signals, vulkan.Dispatch{..})    on the GPU
//	device.Queue().Execute(ctx, waits, signals, commands)      on the engine
//
// Both calls take hal.Points, so a kernel can wait for a program and a program for a kernel. Nothing is copied: both
// Buffers are the Block's own pages.
//
// # Two bridges
//
// A Queue starts work on the GPU when its waits are reached, and signals when it has ended. A failed wait starts
// nothing and fails the signals, as hal.Queue does.
//
// A Pair joins a hal.Semaphore and a timeline semaphore of Vulkan: a value that one reaches, the other reaches too.
// It is for work that is submitted to the GPU before its waits are reached, and waits there.
package vulkan
