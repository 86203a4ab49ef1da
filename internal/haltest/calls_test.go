package haltest

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// Calls are the calls under test that a test can break. Direct has those of package hal.
type Calls struct {
	NewSemaphore func(initial uint64) *hal.Semaphore
	Signal       func(s *hal.Semaphore, v uint64) error
	Fail         func(s *hal.Semaphore, cause error)
	Wait         func(s *hal.Semaphore, ctx context.Context, v uint64) error
	OnReach      func(s *hal.Semaphore, v uint64, f func(error)) func() bool
	WaitAll      func(ctx context.Context, points ...hal.Point) error
	WaitAny      func(ctx context.Context, points ...hal.Point) (int, error)

	Execute  func(q *hal.Queue, ctx context.Context, waits, signals []hal.Point, c ...*hal.CommandBuffer) error
	Alloca   func(q *hal.Queue, ctx context.Context, waits, signals []hal.Point, size int) (*hal.Buffer, error)
	Dealloca func(q *hal.Queue, ctx context.Context, waits, signals []hal.Point, b *hal.Buffer) error

	Import      func(d *hal.Device, b *unimem.Block) (*hal.Buffer, error)
	Bytes       func(*hal.Buffer) []byte
	CloseBuffer func(*hal.Buffer) error

	Fill     func(c *hal.CommandBuffer, dst hal.Range, pattern []byte)
	Copy     func(c *hal.CommandBuffer, dst, src hal.Range)
	Update   func(c *hal.CommandBuffer, dst hal.Range, data []byte)
	Dispatch func(c *hal.CommandBuffer, e *hal.Executable, in, out map[string]hal.Range)
	End      func(*hal.CommandBuffer) error

	Prepare         func(d *hal.Device, ctx context.Context, src ane.Source) (*hal.Executable, error)
	CloseExecutable func(e *hal.Executable, ctx context.Context) error
	CloseDevice     func(d *hal.Device, ctx context.Context) error
}

// Direct returns the calls of package hal.
func Direct() Calls {
	return Calls{
		NewSemaphore: hal.NewSemaphore,
		Signal:       (*hal.Semaphore).Signal,
		Fail:         (*hal.Semaphore).Fail,
		Wait:         (*hal.Semaphore).Wait,
		OnReach:      (*hal.Semaphore).OnReach,
		WaitAll:      hal.WaitAll,
		WaitAny:      hal.WaitAny,

		Execute:  (*hal.Queue).Execute,
		Alloca:   (*hal.Queue).Alloca,
		Dealloca: (*hal.Queue).Dealloca,

		Import:      (*hal.Device).Import,
		Bytes:       (*hal.Buffer).Bytes,
		CloseBuffer: (*hal.Buffer).Close,

		Fill:     (*hal.CommandBuffer).Fill,
		Copy:     (*hal.CommandBuffer).Copy,
		Update:   (*hal.CommandBuffer).Update,
		Dispatch: (*hal.CommandBuffer).Dispatch,
		End:      (*hal.CommandBuffer).End,

		Prepare:         (*hal.Device).Prepare,
		CloseExecutable: (*hal.Executable).Close,
		CloseDevice:     (*hal.Device).Close,
	}
}
