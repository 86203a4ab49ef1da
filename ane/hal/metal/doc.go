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
// # The page of IREE
//
// The rows of IREE's page on its Metal driver, and what stands for them here. A missing row has its reason.
//
//	all devices                 metal.List; metal.Open takes the default one, or that of Choose
//	Metal 3 expected            metal.Open refuses a GPU without it by metal.ErrMetal3
//	Objective-C without ARC     retains and releases are ours; unimem/metal sends them through darwinkit
//	device with one queue       metal.Device has one queue for kernels and transfers
//	submission in three steps   one command buffer waits, works and signals: a submission here is one batch
//	queue-ordered allocation    hal.Queue.Alloca: it allocates when its waits are reached, without blocking
//	collectives                 none: a Mac has one Neural Engine, and no reader asked for several machines
//	capture                     metal.Device.Capture to a file, check --gpu --capture; not into a running Xcode,
//	                            which starts captures itself
//	command buffers, 2 steps    hal.CommandBuffer records segments and encodes at End; a batch for the GPU is a
//	                            list of commands, encoded at once
//	one-shot command buffers    the same for the GPU; hal's own can be reusable
//	fill, copy, update          metal.Fill and metal.Copy: by the blit encoder at multiples of 4, by kernels elsewhere;
//	                            update has no command: the CPU writes to the Block, which is the same memory
//	semaphores as MTLSharedEvent  Join; Event.Wait asks for the value, without a listener, whose block needs a thread
//	allocator                   unimem.Block; a Block is imported, not allocated by Metal
//	buffers                     metal.Buffer by newBufferWithBytesNoCopy
//	executables, no cache       metal.Kernel of MSL text, made by spirv-cross of SPIR-V; no libraries compiled before
//	group sizes beside the code metal.Program.Group
//	argument buffers            none: kernels have at most 30 buffers, which setBuffer binds without one
//	push constants by setBytes  metal.Dispatch.Push
//
// # Platforms
//
// A Device of unimem/metal exists only on macOS. The package is compiled everywhere and was never run on a Mac; its
// tests run it against a fake GPU.
package metal
