// Package dlpack exchanges tensors with other libraries of the process, in the DLPack format and
// without a copy: NumPy, PyTorch, JAX, MLX, TVM and ONNX Runtime produce and consume it. It needs no
// cgo.
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
// A managed tensor has one owner, which calls its deleter once, from any thread. Export makes the
// caller the owner: the caller passes the tensor to a consumer, which becomes the owner, or calls
// Delete. Until then the tensor's Block is retained: its Close, and that of its Tape, Grid or
// Layout, returns unimem.ErrInUse. Export cannot prevent that a cell is given, or a tape cleared,
// while a consumer has the tensor; then the consumer reads what is written there next. The option
// OnDelete calls a function of the caller when the consumer is done, for example to give the cell.
//
// Import makes the ane.Tensor the owner: the Close of its Block calls the deleter, and ErrInUse
// protects it while requests or mappings use the memory. If Import fails, it has called the deleter,
// except for an address that can be no managed tensor (ErrPointer with nil or an odd address).
// A Block that is forgotten without Close is logged and keeps the producer's memory.
//
// Producer and consumer share the bytes and have to synchronize their accesses.
//
// # What is exchanged
//
// Element types are fp16, fp32, bool and integers of 8, 16 and 32 bits; ranks go to ane.MaxRank.
// Export writes strides, never NULL, in elements. Import takes positive strides in any order, as
// long as no element overlaps another, and reads NULL as row-major. It refuses with
// ane.ErrShape what the engine's five axes cannot express: broadcasts (stride 0), reversed axes,
// tensors without elements, and rank 4 with gaps between neighbors of the last axis (channels last).
// The memory has to be the CPU's, or pinned by a GPU's library for the CPU, otherwise the error is
// ErrDevice.
//
// An imported tensor can be bound if it has the program's layout, whose rows are padded to
// ane.RowAlign, and if the engine takes memory of other libraries: soft does; apple and broker take
// surfaces and shared memory only. Otherwise ane.Copy moves it into a tensor of the engine.
//
// # Read-only tensors
//
// The flag READ_ONLY goes both ways. Import makes a Block whose ReadOnly is true: calls that would
// write return ane.ErrReadOnly, and so does Bind of an output. Export sets it for such Blocks, and
// for others with the option ReadOnly. A DLManagedTensor (the format before 1.0) has no flags, so
// ExportLegacy refuses such a tensor.
//
// # Versions
//
// Export writes version 1.0, of which it uses nothing newer; the format itself is as of 1.3. Import
// calls the deleter of a tensor with another major version without reading anything else, and
// returns ErrVersion; so it does for flags that 1.3 does not know. A newer minor version is accepted
// otherwise.
//
// # Systems
//
// The package calls C functions through purego: a program that imports it links the system's C
// library dynamically, also on Linux without cgo. No other package of this module imports it. On
// other systems than Linux, macOS, FreeBSD and Windows on amd64 and arm64, Export and Import return
// ane.ErrUnavailable.
//
// It is tested on Linux. On macOS and Windows it is type-checked and has not been run.
package dlpack
