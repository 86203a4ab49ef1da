package gpu

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Auto chooses a device by its order and the environment.
const Auto = "auto"

// EnvDevice is the environment variable that chooses a device of Vulkan. Package metal opens the default one.
const EnvDevice = "ANEKIT_GPU"

// Report describes a device.
type Report struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	ID     string `json:"id"`   // the same at every start
	Kind   string `json:"kind"` // integrated, discrete, virtual, software or other
	API    string `json:"api"`  // the interface and its version
	Import string `json:"road"` // how a Block reaches the device
	// Alignment is that of the address and size of imported memory.
	Alignment int `json:"alignment_bytes"`
}

// Device is an open GPU.
type Device interface {
	Report() Report
	// Import makes a Memory of a Block, in place.
	Import(ctx context.Context, b *unimem.Block) (Memory, error)
	// Load makes a Memory for reading only of a Block for reading only, in place where the driver can.
	Load(ctx context.Context, b *unimem.Block) (Memory, error)
	// Copied is the number of bytes that Load has copied.
	Copied() int64
	// Kernels are product and scale for guests, on their memory in place.
	Kernels() hal.GPU
	// Own makes a Memory of the driver: the copying path. It counts as memory of this process unless the device is
	// discrete.
	Own(ctx context.Context, size int) (Memory, error)
	// Submit does work once the waits are reached, and then signals. It does not wait; errors of the work fail the
	// signals.
	Submit(ctx context.Context, waits, signals []hal.Point, w Work) error
	// Capture calls f and writes what the GPU does to a file for Xcode. Only Metal does; elsewhere the error matches
	// ane.ErrUnavailable.
	Capture(path string, f func() error) error
	Close(ctx context.Context) error
}

// Memory is what kernels read and write.
type Memory interface {
	// Address is where the driver gives the memory to the CPU; 0 if it does not.
	Address() uintptr
	Bytes() []byte
	Close() error
}

// Work is a kernel on a Memory. With a Side it is the product C = A x B of adjacent matrices of Side x Side float32.
// With Weights it is Y = X x W' for Rows rows X and Y of Side float32, adjacent in Memory, and a matrix W of Side x Side
// float32 in Weights, from Offset on. Otherwise it is Factor*x + Add in place on Length bytes of fp16 from Offset on.
type Work struct {
	Memory         Memory
	Weights        Memory
	Rows, Side     int
	Offset, Length int
	Factor, Add    float32
}

// maxGroups bounds the groups of a kernel along x: the one of Factor and Add strides over the rest.
const maxGroups = 256

// The kernels of Work.
const (
	scaleKernel = iota
	productKernel
	linearKernel
)

func (w Work) kernel() int {
	switch {
	case w.Weights != nil:
		return linearKernel
	case w.Side > 0:
		return productKernel
	}
	return scaleKernel
}

// plan returns the offsets and lengths of the kernel's buffers, its push constants, and its invocations along x and y.
func (w Work) plan() (ranges [][2]int, push []byte, x, y int) {
	n := w.Side
	switch {
	case w.Weights != nil:
		part := 4 * w.Rows * n
		for _, v := range []int{n, n, 0, 0} { // the device knows where W begins
			push = binary.NativeEndian.AppendUint32(push, uint32(v))
		}
		return [][2]int{{0, part}, {w.Offset, 4 * n * n}, {part, part}}, push, n, w.Rows
	case n > 0:
		size := 4 * n * n
		return [][2]int{{0, size}, {size, size}, {2 * size, size}}, binary.NativeEndian.AppendUint32(nil, uint32(n)), n, n
	}
	push = binary.NativeEndian.AppendUint32(nil, uint32(w.Length/4))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(w.Factor))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(w.Add))
	return [][2]int{{w.Offset, w.Length}, {w.Offset, w.Length}}, push, w.Length / 4, 1
}

// bound returns the plan with the ranges of buffers of type B. linear finds W by a push constant, the number of its
// first element.
func bound[B interface {
	Range(offset, length int) R
	Around(offset, length int) (R, int)
}, R any](w Work) (buffers []R, push []byte, x, y int) {
	ranges, push, x, y := w.plan()
	for _, r := range ranges {
		buffers = append(buffers, w.Memory.(B).Range(r[0], r[1]))
	}
	if w.Weights != nil {
		r, before := w.Weights.(B).Around(ranges[1][0], ranges[1][1])
		buffers[1] = r
		binary.NativeEndian.PutUint32(push[8:], uint32(before/4))
	}
	return buffers, push, x, y
}

// run does work and waits.
func run(ctx context.Context, d Device, w Work) error {
	done := hal.NewSemaphore(0)
	if err := d.Submit(ctx, nil, []hal.Point{{Semaphore: done, Value: 1}}, w); err != nil {
		return err
	}
	return done.Wait(ctx, 1)
}

// unavailable is the error of a build or machine without a GPU.
func unavailable(detail, hint string) error {
	return &ane.Error{Op: "gpu", Err: ane.ErrUnavailable, Detail: detail, Hint: hint}
}
