package gpu

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Copying returns a device whose Import copies: it stages the Block's bytes in a Block of its own around every kernel.
// The results stay right, and the checks have to find the copy.
func Copying(d Device) Device { return &copying{d} }

type copying struct{ Device }

// staged is the Memory of a Block that is copied; the Block is closed after it.
type staged struct {
	Memory
	block   *unimem.Block
	own     *unimem.Block
	running sync.WaitGroup
}

func (c *copying) Import(ctx context.Context, b *unimem.Block) (Memory, error) {
	own, err := unimem.Open(b.Size(), unimem.Warm())
	if err != nil {
		return nil, err
	}
	m, err := c.Device.Import(ctx, own)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &staged{Memory: m, block: b, own: own}, nil
}

func (c *copying) Load(ctx context.Context, b *unimem.Block) (Memory, error) {
	m, err := c.Import(ctx, b)
	if err == nil {
		copy(m.(*staged).own.Bytes(), b.Bytes())
	}
	return m, err
}

// Kernels returns those of the device, which work on a copy of all memory.
func (c *copying) Kernels() hal.GPU { return &copyingKernels{c.Device.Kernels()} }

type copyingKernels struct{ hal.GPU }

type stagedKernels struct {
	hal.GPUMemory
	block, own *unimem.Block
}

func (c *copyingKernels) Import(ctx context.Context, b *unimem.Block) (hal.GPUMemory, error) {
	own, err := unimem.Open(b.Size())
	if err != nil {
		return nil, err
	}
	m, err := c.GPU.Import(ctx, own)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &stagedKernels{m, b, own}, nil
}

func (s *stagedKernels) Run(ctx context.Context, name string, ranges [][2]int, push []byte) error {
	for _, r := range ranges {
		copy(s.own.Bytes()[r[0]:][:r[1]], s.block.Bytes()[r[0]:])
	}
	err := s.GPUMemory.Run(ctx, name, ranges, push)
	if err == nil {
		for _, r := range ranges {
			copy(s.block.Bytes()[r[0]:][:r[1]], s.own.Bytes()[r[0]:])
		}
	}
	return err
}

func (s *stagedKernels) Close() error { return errors.Join(s.GPUMemory.Close(), s.own.Close()) }

func (s *staged) Bytes() []byte { return s.block.Bytes() }

func (s *staged) Close() error {
	s.running.Wait()
	return errors.Join(s.Memory.Close(), s.own.Close())
}

func (c *copying) Submit(ctx context.Context, waits, signals []hal.Point, w Work) error {
	s, ok := w.Memory.(*staged)
	if !ok {
		return c.Device.Submit(ctx, waits, signals, w)
	}
	w.Memory = s.Memory
	if weights, ok := w.Weights.(*staged); ok {
		w.Weights = weights.Memory
	}
	s.running.Go(func() {
		follow(ctx, waits, signals, func() error {
			copy(s.Memory.Bytes(), s.Bytes())
			err := run(ctx, c.Device, w)
			if err == nil {
				copy(s.Bytes(), s.Memory.Bytes())
			}
			return err
		})
	})
	return nil
}

// follow calls f once the waits are reached, and then signals; an error fails the signals.
func follow(ctx context.Context, waits, signals []hal.Point, f func() error) {
	err := hal.WaitAll(ctx, waits...)
	if err == nil {
		err = f()
	}
	for _, p := range signals {
		if err == nil {
			err = p.Semaphore.Signal(p.Value)
		}
		if err != nil {
			p.Semaphore.Fail(err)
		}
	}
}
