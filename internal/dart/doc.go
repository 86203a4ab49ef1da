// Package dart is a model of the DART, the IOMMU of Apple silicon. Each device reaches memory through a table of 16 KiB
// pages; other accesses fault. The simulated driver of unimem/dma, the driver of the broker and the simulated NVMe
// controller use it.
//
// The model takes from published facts: the page, a table for each stream, protection of reads and writes, and a fault
// that names the address. An unmapped range is not used again before the device has lost it. This project chose: where
// a range lies (the lowest that fits) and the width of a table. An access holds its pages until it ends, as a device's
// outstanding transactions do until the invalidation of the translation cache has drained them.
package dart
