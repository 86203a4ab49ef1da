// Package dlpack exchanges tensors with other libraries of the process, such as NumPy, PyTorch and JAX. It uses the
// DLPack format, without a copy and without cgo.
//
//	m, err := dlpack.Export(x)       // an ane.Tensor as DLManagedTensorVersioned
//	consume(m.Address())             // a C function; it calls the deleter when it is done
//
//	y, err := dlpack.Import(dlpack.At(produce()))
//	...                              // y has the producer's bytes
//	err = y.Block().Close()          // calls the producer's deleter
//
// # Ownership
//
// A managed tensor has one owner, which calls its deleter once, from any thread. After Export the owner is the caller,
// which passes the tensor to a consumer or calls Delete. Until the deleter runs, the tensor's Block is retained. Export
// cannot prevent that a cell is given, or a tape cleared, while a consumer has the tensor: give the cell in OnDelete.
//
// After Import the owner is the ane.Tensor: Close of its Block calls the deleter. If Import fails, it has called the
// deleter, except for an address that can be no managed tensor. Producer and consumer synchronize their accesses.
//
// # What is exchanged
//
// Element types are fp16, fp32, bool and integers of 8, 16 and 32 bits; ranks go to ane.MaxRank. Import takes positive
// strides in any order. It returns ane.ErrShape for what the engine's five axes cannot express. These are overlapping
// elements, reversed axes, tensors without elements, and rank 4 with gaps between neighbors of the last axis (channels
// last). The memory has to be the CPU's, or pinned by a GPU's library for the CPU.
//
// A Model binds an imported tensor that has the program's layout, whose rows are padded to ane.RowAlign, if the engine
// takes memory of other libraries. The soft engine does; apple and broker take surfaces and shared memory only.
// Otherwise ane.Copy moves it into a tensor of the engine.
//
// Export writes version 1.0. Import takes flags as of 1.3, and any minor version. The flag READ_ONLY goes both ways, as
// ReadOnly of the Block. The format before 1.0 (ExportLegacy, ImportLegacy) has no flags.
//
// # Systems
//
// A program that imports the package links the system's C library dynamically, also on Linux without cgo. On other
// systems than Linux, macOS, FreeBSD and Windows on amd64 and arm64, calls return ane.ErrUnavailable. The package is
// tested on Linux. On macOS and Windows it is type-checked and has not been run.
package dlpack
