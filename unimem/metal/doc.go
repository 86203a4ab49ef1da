// Package metal makes a Block accessible to the GPU of a Mac without copies: as a Buffer over its address, or as a
// Texture over its IOSurface. It runs compute kernels on Buffers, ordered by Events.
//
//	d, err := metal.Open()
//	...
//	buf, err := d.NewBuffer(block)                  // the Block's own pages
//	k, err := d.NewKernel(metal.Product())
//	e, err := d.NewEvent(0)
//	w, err := d.Submit(nil, []metal.Point{{e, 1}}, metal.Dispatch{Kernel: k, ...})
//	err = e.Wait(ctx, 1)                            // now block.Bytes() has the result
//	err = w.Wait(ctx)                               // returns the outcome of the work
//
// Buffer.Pointer and its relatives give the objects to darwinkit, for work that this package does not have.
//
// # Kernels
//
// Product and Scale are the kernels of package vulkan: spirv-cross makes their text of the same SPIR-V. NewKernel
// compiles any other text of the Metal language.
//
// # Weights
//
// NewBuffer takes the pages of a mapped file (unimem.MapFile) for reading only. Submit refuses with ErrReadOnly a Kernel
// that Metal's reflection does not report as reading a buffer only.
//
// # Order
//
// The CPU and the GPU must not access the same bytes at the same time. An Event is an MTLSharedEvent: the host and the
// GPU wait for its values and signal them. Package ane/hal/metal joins it with a Semaphore of ane/hal, so that work of
// an engine and of the GPU wait for each other.
//
// # Lifetime
//
// A Buffer or Texture retains its Block: Block.Close returns unimem.ErrInUse until the Buffer or Texture is closed.
// What a Work of Submit names cannot be closed before it has ended (ErrInUse). For work that other packages give to the
// GPU the caller has to wait: a command buffer of Metal retains the objects that it uses, but not their Blocks.
//
// # Devices
//
// List has all GPUs. Open refuses those without Metal 3 (macOS 13), as IREE does. Device.Capture writes what the GPU
// does to a file for Xcode. Metal's own commands fill with one byte and want multiples of 4; kernels of this package do
// the rest of Fill and Copy.
//
// # Platforms
//
// The package works on macOS, built with cgo, through darwinkit (github.com/progrium/darwinkit, formerly macdriver). On
// other platforms Open returns ErrUnavailable. The macOS code is type-checked and has never been run; `go test
// ./unimem/metal` runs it on a Mac. On Linux the tests run everything else against a fake of Metal that executes the
// kernels' texts on the CPU, compiled as C++.
package metal
