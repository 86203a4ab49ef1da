// Package wasm lets WebAssembly guests use an engine. A guest opens a program, binds ranges of its own memory to the
// program's inputs and outputs, evaluates, and reads the results where it bound them. Nothing is copied on the way, and
// what is copied elsewhere is counted (Guest.Copied).
//
//	Host (a Device, named programs, limits) -> Code (a binary) -> Guest (an instance)
//
// A guest's linear memory is a unimem.Block; see package unimem/wasm. On an engine that accepts tensors at an offset
// (engine.AllowOffsets) a tensor is any range that starts at a multiple of 64 bytes. On all others the range consists
// of whole pages of 16,384 bytes, over which the host maps the tensor's own surface. The guest calls alignment() for
// the number. An unaligned range is refused.
//
// # Functions of the module anekit
//
// All numbers are i32. A text is a pointer and a length in bytes. A negative result is a Code; handles are positive and
// not used twice. include/anekit.h declares the functions for C.
//
//	version() -> 1
//	alignment() -> bytes                                     of pointers of bind; of lengths too if it is above 64
//	error_text(ptr, cap) -> length                           of the last error, cut off at cap
//	print(ptr, len) -> 0                                     writes to Limits.Output
//
//	program_open(name, len) -> program                       a program that the host has named
//	program_compile(text, len) -> program                    MIL text without weight files
//	program_close(program) -> 0
//	tensor_bytes(program, name, len) -> bytes                that bind needs at least
//	tensor_stride(program, name, len, axis) -> bytes         between neighbors on an axis: 0 N, 1 C, 2 D, 3 H, 4 W
//
//	request_open(program) -> request
//	bind(request, name, len, ptr, bytes) -> 0                an input or an output
//	bind_keys(request, name, len, cache, layer) -> 0         an input: the cache's tensor of a layer
//	bind_values(request, name, len, cache, layer) -> 0
//	evaluate(request) -> 0
//	start(request) -> 0                                      returns at once; the engine owns the ranges until wait
//	wait(request) -> 0                                       the outcome of start
//	request_close(request) -> 0
//
//	cache_open(layers, heads, dim, context) -> cache         of fp16
//	cache_append(cache, layer, keys, values, tokens) -> 0
//	cache_advance(cache, tokens) -> 0
//	cache_length(cache) -> tokens
//	cache_truncate(cache, tokens) -> 0
//	cache_close(cache) -> 0
//	gpu_alignment() -> bytes                                 of the pointers of gpu_run
//	gpu_run(name, len, ranges, count, push, bytes) -> 0      runs a kernel that the host has named; waits for it
//
// gpu_run is for a Host with the option GPU. ranges points at count pairs, the pointer and the length of each buffer;
// push at constants, which the host checks against the ranges. The GPU works in the guest's memory, in place.
//
// Guests may also import wasi_snapshot_preview1, as Go's do. Output goes to Limits.Output, which a guest can only write
// to. The three standard files cannot be closed; there are no others, no arguments and no environment. Clock and
// random numbers are the same in every run; Guest.World counts what a guest has read of them.
//
// # Safety
//
// A guest can harm only itself. Each call checks names, handles and ranges; Limits bound memory, open objects and time.
// They do not bound the memory of programs in the engine, so a guest that compiles its own programs can exhaust it. A
// host that does not trust its guests sets Limits.Text below 0, and names the programs itself. Nor do they bound
// Host.Compile, whose time grows with the square of the length of a function. A host that does not trust its guests
// bounds the size of their binaries. When a guest exits, traps or exceeds its time, the host cancels its runs, waits
// for the engine, and then frees the memory. A guest that writes to a range while the engine reads it only changes its
// own results.
package wasm
