// Package dma makes the pages of a Block reachable for a device, and returns the addresses that the
// device has for them.
//
//	d, err := dma.Simulate()            // a model of the hardware; on a Mac dma.Open(ctx)
//	...
//	segments, err := d.Segments(block)  // the Block is mapped, and retained
//	... pass the segments to the device, wait for it
//	err = d.Release(block)              // the device's next access faults
//
// A Segment is a range of addresses of one device, as IODMACommand::PrepareForDMA of DriverKit returns
// them: not of the processor, not physical, and not of another device. They come from the device's DART,
// the IOMMU of Apple silicon, whose page has 16 KiB.
//
// # Drivers
//
// A Device sends its calls to a Driver. Open connects to the driver extension in the folder dext, which was
// never compiled and never run; everywhere but on a Mac that has it Open returns ErrUnavailable. Simulate
// makes a Device over a model of the DART in this process. New takes any Driver, which a Device does not
// trust: segments that are empty, misaligned, overlapping, more than MaxSegments in a call, or that do not
// cover the Block, are ErrDriver.
//
// One call of a Driver returns at most MaxSegments segments. Segments calls it again, from the first byte
// that has none yet, until the Block is covered.
//
// # Lifetime
//
// A Device retains every Block that it has mapped: Block.Close returns unimem.ErrInUse until Release or
// Device.Close. Release first withdraws the mapping, so that the device faults, and then waits for accesses
// that have begun; the addresses are not given again before. Segments of a mapped Block returns the same
// segments again. All methods are safe for concurrent use, and none waits longer for a Driver than the option
// Timeout says.
//
// # Disks
//
// OpenDisk makes a simulated NVMe controller with one namespace on a file. It knows memory only by the addresses
// of its Device: queues, PRP lists, SGL segments and data all go through the DART. Disk.Read reads sectors
// straight to the pages of a Block: no other memory has the bytes in between, and where the file could be opened
// with O_DIRECT, neither has the page cache. Disk.Write is the way back, of a disk with Writable, and Disk.Flush has
// the file's storage keep it. Each command fails on its own: Errors has them all.
//
// # Real disks
//
// OpenRing makes a Ring over io_uring of Linux, which needs no driver extension: the kernel pins registered Blocks
// once and maps them for the disk in each read, which goes straight to their pages. Package safetensors has it as
// the option Ring of Load.
//
// # What the model answers
//
// The specification of unimem leaves four questions to a Mac with a driver extension.
//
// Can the extension read the addresses of a surface that another process created? The model has no objection:
// it maps pages, and two Blocks of one memory have addresses of their own for the same pages, of which either may
// be released alone. Whether macOS lets CreateMemoryDescriptorFromClient have the pages of a surface that the
// client has only looked up, it cannot say.
//
// What does PrepareForDMA cost for 256 MB? The model writes 16,384 page table entries and takes them out again in
// 0.1 to 0.5 ms (BenchmarkSegments). On a Mac the call, the pinning of pages and the invalidation of the
// translation cache are added, and the model has no figure for them.
//
// How many segments has 1 GiB? One, as long as the device's addresses have a hole of 1 GiB: pages need no order
// in memory. In the worst case, a hole between any two pages, 65,536, and so 2,048 calls; with a longest segment of
// n bytes, 1 GiB / n. How fragmented the addresses of a Mac's devices are, the model cannot say.
//
// Can the extension drive the NVMe controller, or does that need an extension of its own? Addresses of one
// device fault on another, so segments are of use only to the device that they were prepared for: IODMACommand
// has to be created for the controller, by an extension that is its driver. The internal disk's controller has
// Apple's driver in the kernel, and its own translation (an NVMMU with an entry for each command) instead of a
// plain DART, as the drivers of Linux and OpenBSD show; whether an extension may replace that driver, the model
// cannot say.
package dma
