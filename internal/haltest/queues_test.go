package haltest

import (
	"context"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// queues are the families queue_dispatch and buffer_mapping, and that of Close.
func queues() []testCase {
	return []testCase{
		{"queue_dispatch/Chain", func(r *rig) {
			e, x, y := r.prepare()
			z := r.buffer(row)
			copy(r.Bytes(x), one())
			r.chain(r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.dispatch(c, e, x, y) }),
				r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.dispatch(c, e, y, z) }))
			r.same(r.Bytes(z), four())
		}},
		{"buffer_mapping/InPlace", func(r *rig) {
			b := r.buffer(5)
			r.that(len(r.Bytes(b)) == 5 && b.Size() == 5, "the size is as asked for")
			copy(r.Bytes(b), "12345")
			r.ok(r.execute(r.copies(b.Range(0, 2), b.Range(3, 2))))
			r.same(r.Bytes(b), []byte("45345"))
		}},
		{"buffer_mapping/Import", func(r *rig) {
			block := step.Must(unimem.Open(1))
			defer block.Close()
			b := step.Must(r.Import(r.d, block))
			r.is(block.Close(), unimem.ErrInUse)
			r.ok(r.execute(r.fills(b.Range(7, 2), 1)))
			r.same(block.Bytes()[6:10], []byte{0, 1, 1, 0})
			r.ok(r.CloseBuffer(b))
			r.ok(block.Close())
		}},
		{"buffer_mapping/CloseWhilePending", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(5)
			c := r.fills(b.Range(0, 5), 1)
			r.submit(at(s, 1), at(u, 1), c)
			r.is(r.CloseBuffer(b), hal.ErrInUse)
			r.is(c.Close(), hal.ErrInUse)
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1))
			r.ok(r.CloseBuffer(b))
			r.that(r.Bytes(b) == nil, "no memory after Close")
		}},
		{"buffer_mapping/FillEmpty", func(r *rig) { r.fill(r.buffer(16), 7, 0, 0xFF) }},
		{"buffer_mapping/ReadData", func(r *rig) { r.fill(r.buffer(16), 8, 8, 0xFF) }},
		{"buffer_mapping/WriteDataWithOffset", func(r *rig) { r.copy(16, 0, 0, 16) }},
		{"device/Close", func(r *rig) {
			u := r.NewSemaphore(0)
			r.buffer(5)
			r.submit(at(r.NewSemaphore(0), 1), at(u, 1))
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
