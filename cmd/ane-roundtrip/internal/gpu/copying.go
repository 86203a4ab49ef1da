package gpu

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Copying returns a device whose Import copies: it stages the Block's bytes in memory of the driver around every
// kernel. The results stay right, and the checks have to find the copy.
func Copying(d Device) Device { return &copying{d} }

type copying struct{ Device }

// staged is the Memory of a Block that is copied.
type staged struct {
	Memory
	block *unimem.Block
}

func (c *copying) Import(ctx context.Context, b *unimem.Block) (Memory, error) {
	if err := b.Retain(); err != nil {
		return nil, err
	}
	m, err := c.Own(ctx, b.Size())
	if err != nil {
		b.Release()
		return nil, err
	}
	return &staged{m, b}, nil
}

func (s *staged) Bytes() []byte { return s.block.Bytes() }

func (s *staged) Close() error {
	err := s.Memory.Close()
	if err == nil {
		s.block.Release()
	}
	return err
}

func (c *copying) Product(ctx context.Context, m Memory, n int) error {
	s, ok := m.(*staged)
	if !ok {
		return c.Device.Product(ctx, m, n)
	}
	copy(s.Memory.Bytes(), s.Bytes())
	err := c.Device.Product(ctx, s.Memory, n)
	copy(s.Bytes(), s.Memory.Bytes())
	return err
}

func (c *copying) Scale(ctx context.Context, waits, signals []hal.Point, m Memory, offset, length int, factor,
	add float32) error {
	s, ok := m.(*staged)
	if !ok {
		return c.Device.Scale(ctx, waits, signals, m, offset, length, factor, add)
	}
	waits, signals = slices.Clone(waits), slices.Clone(signals)
	go func() {
		done := hal.NewSemaphore(0)
		end := []hal.Point{{Semaphore: done, Value: 1}}
		err := hal.WaitAll(ctx, waits...)
		if err == nil {
			copy(s.Memory.Bytes(), s.Bytes())
			err = c.Device.Scale(ctx, nil, end, s.Memory, offset, length, factor, add)
		}
		if err == nil {
			err = done.Wait(ctx, 1)
		}
		if err == nil {
			copy(s.Bytes()[offset:offset+length], s.Memory.Bytes()[offset:offset+length])
		}
		for _, p := range signals {
			if err != nil {
				p.Semaphore.Fail(err)
				continue
			}
			if err := p.Semaphore.Signal(p.Value); err != nil && !errors.Is(err, hal.ErrFailed) {
				p.Semaphore.Fail(err)
			}
		}
	}()
	return nil
}
