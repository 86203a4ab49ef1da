// Package gpu proves on a GPU that its kernels work on a Block's own pages: the checks that `check --gpu` adds.
//
// Open opens the GPU of this machine: by package vulkan on Linux and Windows, by package metal on macOS. A static
// program for Linux cannot load a driver.
package gpu

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Auto chooses a device by its order and the environment.
const Auto = "auto"

// Report describes a device.
type Report struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	ID     string `json:"id"`   // the same at every start
	Kind   string `json:"kind"` // integrated, discrete, virtual, software or other
	API    string `json:"api"`  // the interface and its version
	Road   string `json:"road"` // how a Block reaches the device
	// Alignment is that of the address and size of imported memory.
	Alignment int `json:"alignment_bytes"`
}

// Device is an open GPU.
type Device interface {
	Report() Report
	// Import makes a Memory of a Block, in place.
	Import(ctx context.Context, b *unimem.Block) (Memory, error)
	// Own makes a Memory apart from any Block of the caller, which counts as memory of this process: the copying path.
	Own(ctx context.Context, size int) (Memory, error)
	// Product computes C = A x B of n x n float32. The matrices follow each other in m.
	Product(ctx context.Context, m Memory, n int) error
	// Scale computes factor*x + add in place on length bytes of fp16 from a byte on, once the waits are reached, and
	// then signals. It does not wait; errors of the work fail the signals.
	Scale(ctx context.Context, waits, signals []hal.Point, m Memory, offset, length int, factor, add float32) error
	Close(ctx context.Context) error
}

// Memory is what kernels read and write.
type Memory interface {
	// Address is where the driver gives the memory to the CPU; 0 if it does not.
	Address() uintptr
	Bytes() []byte
	Close() error
}

// unavailable is the error of a build or machine without a GPU.
func unavailable(detail, hint string) error {
	return &ane.Error{Op: "gpu", Err: ane.ErrUnavailable, Detail: detail, Hint: hint}
}
