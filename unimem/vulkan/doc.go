// Package vulkan gives the GPU the pages of a Block, without copies and without cgo. It imports the Block's memory into
// Vulkan and runs compute kernels on it.
//
//	d, err := vulkan.Open(ctx)
//	...
//	buf, err := d.Import(ctx, block)      // the Block's own pages
//	k, err := d.NewKernel(ctx, vulkan.Product())
//	done, err := d.NewTimeline(0)
//	err = d.Submit(ctx, nil, []vulkan.Point{{done, 1}}, vulkan.Dispatch{Kernel: k, ...})
//	err = done.Wait(ctx, 1)               // now block.Bytes() has the result
//
// # Memory
//
// Import gives the driver the Block's address (VK_EXT_external_memory_host): both sides use the same pages, and no
// bytes are moved. On an integrated GPU that is all. A discrete GPU reaches the pages over the bus at every access:
// right for data that is read or written once, slow for data that a kernel uses often. NewBuffer is memory of the
// driver for comparison, and for drivers that import nothing.
//
// Weights in a mapped file (unimem.MapFile) are for reading only. Load imports them in place where the driver can, and
// otherwise copies them once, counted by Copied. Submit refuses with ErrReadOnly what writes to them: Fill, Copy to
// them, and a Kernel whose code does not declare the buffer as read only. If another process cuts off the file, a
// software driver that reads it faults, which ends the process: copy a file that others may change.
//
// The CPU and the GPU must not access the same bytes at the same time: the signal of a submission is the order. A
// Buffer retains its Block, so Block.Close returns unimem.ErrInUse until the Buffer is closed. Buffer.Close returns
// ErrInUse until the work that names it has ended.
//
// # Devices
//
// Open does not take the first device that a driver reports: it orders them by kind, name and ID, so that a machine
// always opens the same one. Choose, or the variable ANEKIT_GPU, takes another one; List shows all of them.
//
// # Waiting
//
// Every call that a driver can make wait has a context. A call of a driver cannot be stopped: when the context ends
// first, the caller gets its error, and what the driver makes later is freed. Device.Close waits for such calls.
//
// # Platforms
//
// The package loads libvulkan.so.1 on Linux and vulkan-1.dll on Windows, on amd64 and arm64, when Open or List is
// called. A program on Linux that imports it needs the C library, with and without cgo: it is not static. Elsewhere
// Open returns ErrUnavailable; on macOS use package metal. On Windows it is compiled and has not been run.
package vulkan
