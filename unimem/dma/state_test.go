package dma

// longestSegment limits a segment of a simulated device to n bytes, whole pages: Segments splits longer ones, as
// IODMACommand does for a device with a maximum segment size. The default is no limit.
func longestSegment(n uint64) Option {
	return func(c *config) { c.longest = max(n/PageSize, 1) * PageSize }
}

// faults is the number of accesses that a simulated Device's DART has refused, 0 for other Devices.
func (d *Device) faults() uint64 {
	if d.model == nil {
		return 0
	}
	return d.model.table.Faults()
}

// reached is the number of Blocks that the device reaches, those of its Disks included.
func (d *Device) reached() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.mapped)
}
