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
// segments again. All methods are safe for concurrent use, and each call of a Driver has a deadline, see
// Timeout.
package dma
