// Package wasm runs WebAssembly guests in wazero whose linear memory is a unimem.Block. So engines read and write a
// guest's tensors where the guest has them.
//
// Instantiate reserves the Block to the guest's maximum at once. The system allocates pages when the guest touches
// them. The address never moves, also when the guest grows during a call. Guest, host and engine have one base of the
// memory from the first instruction to the last.
//
//	guest pointer p  ->  Memory.Address() + p  ->  a tensor of a Request
//
// # Regions
//
// A Region is a range of a guest's memory that a tensor is made on. There are two kinds, for two kinds of engine:
//
//   - Memory.InPlace is a range of the guest's own Block. It is for engines that accept tensors after byte 0 of their
//     surface (ane.Info.Offsets): ane.OnRange(r.Block(), r.Offset(), layout).
//   - Memory.OnSurface is for all other engines: a Block of its own, mapped over whole pages of the guest's memory. The
//     tensor starts at byte 0 of its surface and is still the guest's memory. On Linux the mapping is a MAP_FIXED of
//     the Block's memfd. On a Mac it is a mach_vm_remap, and the guest's own pages there keep their memory. Other
//     systems refuse it.
//
// OnSurface moves the pages that the guest has touched to the surface, once; on a Mac those that are not zeros.
// Memory.Copied counts these bytes. Nothing else copies.
//
// # Safety
//
// A guest is not trusted. Each call checks the guest's offsets and lengths, and their sum for overflow, against its
// current memory; wazero checks its own loads and stores. A Region holds its Block: if the guest exits, traps or is
// closed while an engine works on the Region, the memory stays until the Region is closed. A guest may write to a
// Region while an engine reads it, which changes only the guest's own values.
//
// After the module is closed, its api.Memory refers to memory that may be freed. Memory.Range then returns an error.
package wasm
