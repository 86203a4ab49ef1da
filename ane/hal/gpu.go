package hal

import (
	"context"

	"github.com/anekit/anekit/unimem"
)

// GPU runs kernels of a GPU by their names for callers that are not trusted, such as the guests of package ane/wasm.
// Queue.Kernels of ane/hal/vulkan and of ane/hal/metal makes one. Its methods are safe for concurrent use.
type GPU interface {
	// Alignment is the multiple of bytes at which a range of Run begins.
	Alignment() int
	// Import has the GPU reach a Block in place. The GPUMemory retains it until its Close.
	Import(ctx context.Context, b *unimem.Block) (GPUMemory, error)
}

// GPUMemory is a Block that a GPU reaches in place.
type GPUMemory interface {
	// Address is where the driver gives the memory to the CPU, 0 if it does not: the Block's own in place.
	Address() uintptr
	// Run runs the kernel called name on ranges of the memory, each an offset and a length, with push constants. It
	// returns when the GPU has ended. If ctx ends first it returns that error, and the GPU goes on until Close.
	//
	// The constants are checked against the ranges, so that the kernel reaches no byte outside of them. Errors match
	// ane.ErrName, ane.ErrShape (constants), ane.ErrShort, ane.ErrAligned, or are those of the GPU.
	Run(ctx context.Context, name string, ranges [][2]int, push []byte) error
	// Close waits for the GPU, and releases the Block.
	Close() error
}
