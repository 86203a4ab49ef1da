package haltest

import (
	"context"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// allocas is the family queue_alloca.
func allocas() []testCase {
	return []testCase{
		{"queue_alloca/AllocaDeallocaCycle", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.alloca(at(s, 1), at(s, 2), 33)
			r.that(b.Size() == 33, "the size is known before the memory is there")
			r.that(r.Bytes(b) == nil, "no memory before the wait is reached")
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 2))
			r.same(r.Bytes(b), make([]byte, 33))
			r.dealloca(at(s, 3), at(s, 4), b)
			r.that(r.Bytes(b) != nil, "the memory stays until the wait is reached")
			r.ok(r.Signal(s, 3))
			r.ok(r.Wait(s, r.ctx, 4))
			r.that(r.Bytes(b) == nil, "no memory after Dealloca")
		}},
		{"queue_alloca/BatchWithoutMemory", func(r *rig) {
			b := r.alloca(at(r.NewSemaphore(0), 1), nil, 33)
			seen := r.buffer(1)
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) {
				r.Fill(c, seen.Range(0, 1), []byte{1})
				r.Fill(c, b.Range(0, 33), []byte{1})
			})
			r.is(r.execute(c), hal.ErrFailed, hal.ErrClosed)
			r.same(r.Bytes(seen), []byte{0})
		}},
		{"queue_alloca/FailedWait", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			r.alloca(at(s, 1), at(u, 1), 33)
			r.Fail(s, errCause)
			r.is(r.Wait(u, r.ctx, 1), errCause)
		}},
		{"queue_alloca/Sizes", func(r *rig) {
			_, err := r.Alloca(r.q, context.Background(), nil, nil, 0)
			r.is(err, unimem.ErrZeroSize)
			_, err = r.Alloca(r.q, context.Background(), nil, nil, -1)
			r.is(err, unimem.ErrSize)
		}},
		{"queue_alloca/BasicAlloca", func(r *rig) { r.fill(r.transient(1024), 0, 1024, 0xAB) }},
		{"queue_alloca/AllocaWithWaitSemaphores", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.alloca(at(s, 1), at(s, 2), 512)
			signaling := start(func() error { return r.Signal(s, 1) })
			r.ok(r.Wait(s, r.ctx, 2))
			r.ok(<-signaling)
			r.same(r.Bytes(b), make([]byte, 512))
		}},
		{"queue_alloca/DeallocaReleasesMemory", func(r *rig) {
			b := r.transient(256)
			live := unimem.Live().Blocks
			r.free(b)
			r.that(r.Bytes(b) == nil, "no memory after Dealloca")
			r.that(unimem.Live().Blocks == live-1, "one Block less")
		}},
		{"queue_alloca/ChainedAllocaDealloca", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.alloca(nil, at(s, 1), 1024)
			r.dealloca(at(s, 1), at(s, 2), b)
			r.ok(r.Wait(s, r.ctx, 2))
			r.that(r.Bytes(b) == nil, "no memory after Dealloca")
		}},
	}
}

// alloca and dealloca do not wait.
func (r *rig) alloca(waits, signals []hal.Point, size int) *hal.Buffer {
	return step.Must(r.Alloca(r.q, context.Background(), waits, signals, size))
}

func (r *rig) dealloca(waits, signals []hal.Point, b *hal.Buffer) {
	r.ok(r.Dealloca(r.q, context.Background(), waits, signals, b))
}

// transient allocates a Buffer on the queue and waits for its memory.
func (r *rig) transient(size int) *hal.Buffer {
	s := r.NewSemaphore(0)
	b := r.alloca(nil, at(s, 1), size)
	r.ok(r.Wait(s, r.ctx, 1))
	return b
}

// free frees a Buffer on the queue and waits for that.
func (r *rig) free(b *hal.Buffer) {
	s := r.NewSemaphore(0)
	r.dealloca(nil, at(s, 1), b)
	r.ok(r.Wait(s, r.ctx, 1))
}
