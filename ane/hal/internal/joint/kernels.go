package joint

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Kernels is the hal.GPU of a bridge, with buffers of type B and kernels of type K.
type Kernels[B Buffer, K any] struct {
	Align int
	Named map[string]K
	Make  func(ctx context.Context, b *unimem.Block) (B, error)
	// Describe returns what the kernel needs and how many ranges and bytes of constants it has. needs is nil for a
	// kernel that only trusted callers run.
	Describe func(K) (needs Needs, ranges, push int)
	// Execute starts a kernel with invocations along x and y.
	Execute func(signals []hal.Point, k K, b B, ranges [][2]int, push []byte, x, y int) error
}

// Needs is that of a Program of unimem/vulkan and unimem/metal.
type Needs = func(push []byte, lengths []int) (bytes []int, x, y int, ok bool)

// Buffer is a Buffer of a GPU.
type Buffer interface {
	io.Closer
	Address() uintptr
}

// Alignment implements hal.GPU.
func (k *Kernels[B, K]) Alignment() int { return k.Align }

// Import implements hal.GPU.
func (k *Kernels[B, K]) Import(ctx context.Context, b *unimem.Block) (hal.GPUMemory, error) {
	buf, err := k.Make(ctx, b)
	if err != nil {
		return nil, err
	}
	return &memory[B, K]{kernels: k, buffer: buf, size: b.Size()}, nil
}

// memory is a Block that the GPU reaches.
type memory[B Buffer, K any] struct {
	kernels *Kernels[B, K]
	buffer  B
	size    int
	pending sync.WaitGroup
}

func (m *memory[B, K]) Address() uintptr { return m.buffer.Address() }

func (m *memory[B, K]) Close() error {
	m.pending.Wait()
	return m.buffer.Close()
}

// Run implements hal.GPUMemory.
func (m *memory[B, K]) Run(ctx context.Context, name string, ranges [][2]int, push []byte) error {
	refuse := func(kind error, format string, args ...any) error {
		return &ane.Error{Op: "gpu", Name: name, Err: kind, Detail: fmt.Sprintf(format, args...)}
	}
	k, ok := m.kernels.Named[name]
	if !ok {
		return refuse(ane.ErrName, "no such kernel of the host")
	}
	needs, buffers, constants := m.kernels.Describe(k)
	switch {
	case needs == nil:
		return refuse(ane.ErrName, "this kernel has no Needs, so only trusted callers run it")
	case len(ranges) != buffers || len(push) != constants:
		return refuse(ane.ErrShape, "%d ranges and %d bytes of constants, the kernel has %d and %d", len(ranges), len(push),
			buffers, constants)
	}
	lengths := make([]int, buffers)
	for i, r := range ranges {
		lengths[i] = r[1]
	}
	bytes, x, y, ok := needs(push, lengths)
	if !ok {
		return refuse(ane.ErrShape, "constants that the kernel cannot use")
	}
	used := make([][2]int, buffers)
	for i, r := range ranges {
		n := (bytes[i] + 3) / 4 * 4
		switch {
		case r[0] < 0 || r[1] < 0 || r[0] > m.size-r[1]:
			return refuse(ane.ErrShort, "range %d: %d bytes from %d on of %d", i, r[1], r[0], m.size)
		case n > r[1]:
			return refuse(ane.ErrShort, "range %d has %d bytes, the kernel needs %d", i, r[1], n)
		case r[0]%m.kernels.Align != 0:
			return refuse(ane.ErrAligned, "range %d begins at %d, which is no multiple of %d", i, r[0], m.kernels.Align)
		}
		used[i] = [2]int{r[0], n}
	}
	done := hal.NewSemaphore(0)
	if err := m.kernels.Execute([]hal.Point{{Semaphore: done, Value: 1}}, k, m.buffer, used, push, x, y); err != nil {
		return err
	}
	m.pending.Go(func() { _ = done.Wait(context.Background(), 1) }) // Run tells the error
	return done.Wait(ctx, 1)
}
