package haltest

import (
	"bytes"
	"context"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// queues are the families queue_alloca, queue_transfer, queue_dispatch and buffer_mapping.
func queues() []testCase {
	return []testCase{
		{"queue_alloca/AllocaDealloca", func(r *rig) {
			s := r.NewSemaphore(0)
			b, err := r.Alloca(r.q, context.Background(), at(s, 1), at(s, 2), 33)
			r.ok(err)
			r.that(r.Bytes(b) == nil, "no memory before the wait is reached")
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 2))
			r.same(r.Bytes(b), make([]byte, 33))
			r.ok(r.Dealloca(r.q, context.Background(), at(s, 3), at(s, 4), b))
			r.that(r.Bytes(b) != nil, "the memory stays until the wait is reached")
			r.ok(r.Signal(s, 3))
			r.ok(r.Wait(s, r.ctx, 4))
			r.that(r.Bytes(b) == nil, "no memory after Dealloca")
		}},
		{"queue_alloca/BatchWithoutMemory", func(r *rig) {
			never := r.NewSemaphore(0)
			b, err := r.Alloca(r.q, context.Background(), at(never, 1), nil, 33)
			r.ok(err)
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
			_, err := r.Alloca(r.q, context.Background(), at(s, 1), at(u, 1), 33)
			r.ok(err)
			r.Fail(s, errCause)
			r.is(r.Wait(u, r.ctx, 1), errCause)
		}},
		{"queue_alloca/Sizes", func(r *rig) {
			_, err := r.Alloca(r.q, context.Background(), nil, nil, 0)
			r.is(err, unimem.ErrZeroSize)
			_, err = r.Alloca(r.q, context.Background(), nil, nil, -1)
			r.is(err, unimem.ErrSize)
		}},
		{"queue_transfer/FillCopyUpdate", func(r *rig) {
			a, b := r.buffer(100), r.buffer(100)
			s := r.NewSemaphore(0)
			steps := []func(c *hal.CommandBuffer){
				func(c *hal.CommandBuffer) { r.Fill(c, a.Range(0, 100), []byte{3}) },
				func(c *hal.CommandBuffer) { r.Update(c, a.Range(10, 3), []byte("abc")) },
				func(c *hal.CommandBuffer) { r.Copy(c, b.Range(1, 20), a.Range(5, 20)) },
			}
			for i, f := range steps {
				r.ok(r.Execute(r.q, context.Background(), at(s, uint64(i)), at(s, uint64(i+1)),
					r.record(hal.OneShot, f)))
			}
			r.ok(r.Wait(s, r.ctx, uint64(len(steps))))
			want := bytes.Repeat([]byte{3}, 20)
			copy(want[5:], "abc")
			r.same(r.Bytes(b)[1:21], want)
			r.same(r.Bytes(b)[21:], make([]byte, 79))
		}},
		{"queue_dispatch/Chain", func(r *rig) {
			e, x, y := r.prepare()
			z := r.buffer(row)
			s := r.NewSemaphore(0)
			copy(r.Bytes(x), one())
			second := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.dispatch(c, e, y, z) })
			r.ok(r.Execute(r.q, context.Background(), at(s, 1), at(s, 2), second))
			first := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.dispatch(c, e, x, y) })
			r.ok(r.Execute(r.q, context.Background(), nil, at(s, 1), first))
			r.ok(r.Wait(s, r.ctx, 2))
			r.same(r.Bytes(z), four())
		}},
		{"buffer_mapping/InPlace", func(r *rig) {
			b := r.buffer(5)
			r.that(len(r.Bytes(b)) == 5 && b.Size() == 5, "the size is as asked for")
			copy(r.Bytes(b), "12345")
			r.now(func(c *hal.CommandBuffer) { r.Copy(c, b.Range(0, 2), b.Range(3, 2)) })
			r.same(r.Bytes(b), []byte("45345"))
		}},
		{"buffer_mapping/Import", func(r *rig) {
			block, err := unimem.Open(1)
			r.ok(err)
			defer block.Close()
			b, err := r.Import(r.d, block)
			r.ok(err)
			r.is(block.Close(), unimem.ErrInUse)
			r.now(func(c *hal.CommandBuffer) { r.Fill(c, b.Range(7, 2), []byte{1}) })
			r.same(block.Bytes()[6:10], []byte{0, 1, 1, 0})
			r.ok(r.CloseBuffer(b))
			r.ok(block.Close())
		}},
		{"buffer_mapping/CloseWhilePending", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(5)
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 5), []byte{1}) })
			r.ok(r.Execute(r.q, context.Background(), at(s, 1), at(u, 1), c))
			r.is(r.CloseBuffer(b), hal.ErrInUse)
			r.is(c.Close(), hal.ErrInUse)
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1))
			r.ok(r.CloseBuffer(b))
			r.that(r.Bytes(b) == nil, "no memory after Close")
		}},
		{"device/Close", func(r *rig) {
			u := r.NewSemaphore(0)
			r.buffer(5)
			r.ok(r.Execute(r.q, context.Background(), at(r.NewSemaphore(0), 1), at(u, 1)))
			r.ok(r.CloseDevice(r.d, r.ctx))
			r.is(u.Wait(ended(), 1), hal.ErrFailed, hal.ErrClosed)
			r.is(r.Execute(r.q, context.Background(), nil, nil), hal.ErrClosed)
			r.ok(r.CloseDevice(r.d, r.ctx))
		}},
	}
}

// dispatch records the program of prepare.
func (r *rig) dispatch(c *hal.CommandBuffer, e *hal.Executable, from, to *hal.Buffer) {
	in, out := names(from, to)
	r.Dispatch(c, e, in, out)
}
