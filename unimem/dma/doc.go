// Package dma makes the pages of a Block reachable for a device, and returns the addresses that the
// device has for them.
//
//	d := dma.Simulate()                 // a model of the hardware; on a Mac dma.Open(ctx)
//	...
//	segments, err := d.Segments(block)  // the Block is mapped, and retained
//	... pass the segments to the device, wait for it
//	err = d.Release(block)              // the device's next access faults
//
// A Segment is a range of addresses of one device, as IODMACommand::PrepareForDMA of DriverKit returns them. They are
// not addresses of the processor, of physical memory, or of another device. They come from the device's DART, the IOMMU
// of Apple silicon, whose page has 16 KiB.
//
// # Drivers
//
// A Device sends its calls to a Driver. Open connects to the driver extension in the folder dext, which was never
// compiled and never run. Open returns ErrUnavailable everywhere but on a Mac that has it. Simulate makes a Device over
// a model of the DART in this process. New takes any Driver, and a Device does not trust it. Segments are ErrDriver if
// they are empty, misaligned or overlapping, do not cover the Block, or are more than MaxSegments in a call.
//
// One call of a Driver returns at most MaxSegments segments. Segments calls it again, from the first byte
// that has none yet, until the Block is covered.
//
// # Lifetime
//
// A Device retains every Block that it has mapped: Block.Close returns unimem.ErrInUse until Release or Device.Close.
// Release first withdraws the mapping, so that the device faults, and then waits for accesses that have begun. Only
// then can the addresses be given to another Block. Segments of a mapped Block returns the same segments again. All
// methods are safe for concurrent use. None waits longer for a Driver than the option Timeout says.
//
// # Disks
//
// OpenDisk makes a simulated NVMe controller with one namespace on a file. It knows memory only by the addresses of its
// Device: queues, PRP lists and data all go through the DART. Disk.Read reads sectors straight to the pages of a Block:
// no other memory has the bytes in between. Nor does the page cache, where the file could be opened with O_DIRECT.
// Disk.Write writes the other way, to a disk with Writable, and after Disk.Flush the file's storage has the bytes. Each
// command fails on its own: Errors has them all.
//
// # Real disks
//
// OpenRing makes a Ring over io_uring of Linux, which needs no driver extension. The kernel pins registered Blocks once
// and maps them for the disk in each read, which goes straight to their pages. Package safetensors reads weights so
// with the option Ring of Load.
//
// The README of the folder dext says what the model answers of the questions that the specification of unimem leaves
// to a Mac.
package dma
