package haltest

import (
	"bytes"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
)

// dispatches are the families of command buffers with programs, and of Buffers that the queue allocates.
func dispatches() []testCase {
	return []testCase{
		{"command_buffer_dispatch/Bindings", func(r *rig) {
			e, x, y := r.prepare()
			r.now(func(c *hal.CommandBuffer) {
				r.Update(c, x.Range(0, row), one())
				r.dispatch(c, e, x, y)
			})
			r.same(r.Bytes(y), two())
			for kind, maps := range map[error][2]map[string]hal.Range{
				ane.ErrUnbound:    {{}, {"y": y.Range(0, row)}},
				ane.ErrName:       {{"x": x.Range(0, row), "q": x.Range(0, row)}, {"y": y.Range(0, row)}},
				ane.ErrShort:      {{"x": x.Range(0, row-1)}, {"y": y.Range(0, row)}},
				ane.ErrAlias:      {{"x": x.Range(0, row)}, {"y": x.Range(0, row)}},
				hal.ErrOutOfRange: {{"x": x.Range(1, row)}, {"y": y.Range(0, row)}},
			} {
				c := step.Must(r.d.NewCommandBuffer(hal.OneShot))
				r.Dispatch(c, e, maps[0], maps[1])
				r.is(r.End(c), kind)
			}
		}},
		{"command_buffer_dispatch/Pipeline", func(r *rig) {
			e, x, y := r.prepare()
			r.now(func(c *hal.CommandBuffer) {
				r.Update(c, x.Range(0, row), one())
				r.dispatch(c, e, x, y)
				r.Copy(c, x.Range(0, row), y.Range(0, row))
				r.dispatch(c, e, x, y)
				r.Fill(c, x.Range(0, row), []byte{0, 0})
			})
			r.same(r.Bytes(y), four())
			r.same(r.Bytes(x), make([]byte, row))
		}},
		{"command_buffer_dispatch/Reuse", func(r *rig) {
			e, x, y := r.prepare()
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) {
				r.dispatch(c, e, x, y)
				r.Copy(c, x.Range(0, row), y.Range(0, row))
			})
			copy(r.Bytes(x), one())
			s := r.NewSemaphore(0)
			for _, v := range []uint64{2, 1} {
				r.submit(at(s, v), at(s, v+1), c)
			}
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 3))
			r.same(r.Bytes(x), four())
		}},
		{"command_buffer_dispatch/ChainedDispatches", func(r *rig) {
			e, x, y := r.prepare()
			z := r.buffer(row)
			copy(r.Bytes(x), one())
			r.now(func(c *hal.CommandBuffer) {
				r.dispatch(c, e, x, y)
				c.Barrier()
				r.dispatch(c, e, y, z)
			})
			r.same(r.Bytes(y), two())
			r.same(r.Bytes(z), four())
		}},
		{"command_buffer_dispatch/FillDispatchDispatchPipeline", func(r *rig) {
			e, x, y := r.prepare()
			z := r.buffer(row)
			r.now(func(c *hal.CommandBuffer) {
				r.Fill(c, x.Range(0, row), one()[:2])
				r.dispatch(c, e, x, y)
				r.dispatch(c, e, y, z)
			})
			r.same(r.Bytes(z), four())
		}},
		{"command_buffer_dispatch/TransientInputPipeline", func(r *rig) {
			e, _, y := r.prepare()
			x := r.transient(row)
			copy(r.Bytes(x), one())
			r.now(func(c *hal.CommandBuffer) { r.dispatch(c, e, x, y) })
			r.same(r.Bytes(y), two())
			r.free(x)
		}},
		{"command_buffer_dispatch/ReusablePipelineWithDifferentInputs", func(r *rig) {
			e, x, y := r.prepare()
			z := r.buffer(row)
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) {
				r.dispatch(c, e, x, y)
				r.dispatch(c, e, y, z)
			})
			for _, v := range [][2][]byte{{one(), four()}, {halves(0), halves(0)}, {one(), four()}} {
				copy(r.Bytes(x), v[0])
				r.ok(r.execute(c))
				r.same(r.Bytes(z), v[1])
			}
		}},
		{"command_buffer_transient_buffer/RecordedBeforeAlloca", func(r *rig) {
			e, x, y := r.prepare()
			s := r.NewSemaphore(0)
			between := r.alloca(at(s, 1), at(s, 2), row)
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) {
				r.dispatch(c, e, x, between)
				r.dispatch(c, e, between, y)
			})
			copy(r.Bytes(x), one())
			r.dealloca(at(s, 3), at(s, 4), between)
			r.submit(at(s, 2), at(s, 3), c)
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 4))
			r.same(r.Bytes(y), four())
			r.that(r.Bytes(between) == nil, "the memory is free")
		}},
		{"command_buffer_transient_buffer/FillTransientBuffer",
			func(r *rig) { r.fill(r.transient(1024), 0, 1024, 0xFE, 0xCA, 0xAD, 0xDE) }},
		{"command_buffer_transient_buffer/FillTransientBufferSubrange",
			func(r *rig) { r.fill(r.transient(256), 64, 128, 9) }},
		{"command_buffer_transient_buffer/FillTransientBuffer1Byte",
			func(r *rig) { r.fill(r.transient(512), 0, 512, 0xAB) }},
		{"command_buffer_transient_buffer/CopyToTransientBuffer", func(r *rig) {
			a, b := r.buffer(512), r.transient(512)
			copy(r.Bytes(a), sequence(512))
			r.ok(r.execute(r.copies(b.Range(0, 512), a.Range(0, 512))))
			r.same(r.Bytes(b), sequence(512))
			r.free(b)
		}},
		{"command_buffer_transient_buffer/CopyFromTransientBuffer", func(r *rig) {
			a, b := r.transient(512), r.buffer(512)
			copy(r.Bytes(a), sequence(512))
			r.ok(r.execute(r.copies(b.Range(0, 512), a.Range(0, 512))))
			r.free(a)
			r.same(r.Bytes(b), sequence(512))
		}},
		{"command_buffer_transient_buffer/FillThenCopyInSingleCommandBuffer", func(r *rig) {
			a, b := r.transient(256), r.buffer(256)
			r.now(func(c *hal.CommandBuffer) {
				r.Fill(c, a.Range(0, 256), []byte{0x44, 0x33, 0x22, 0x11})
				c.Barrier()
				r.Copy(c, b.Range(0, 256), a.Range(0, 256))
			})
			r.free(a)
			r.same(r.Bytes(b), bytes.Repeat([]byte{0x44, 0x33, 0x22, 0x11}, 64))
		}},
		{"command_buffer_transient_buffer/UpdateTransientBuffer",
			func(r *rig) { r.update(r.transient(64), 0, sequence(64)) }},
	}
}

// executables are the families executable and executable_cache.
func executables() []testCase {
	return []testCase{
		{"executable/Layouts", func(r *rig) {
			e, _, _ := r.prepare()
			in, out := e.Inputs(), e.Outputs()
			r.that(len(in) == 1 && in[0].Name == "x" && slices.Equal(in[0].Shape, []int{1, 1, 1, 32}),
				"input x is as in the text")
			r.that(len(out) == 1 && out[0].Name == "y", "output y is as in the text")
			r.that(e.Receipt().Engine != "", "the receipt names the engine")
		}},
		{"executable/Refused", func(r *rig) {
			for _, text := range []string{"no program", "FOO?", ""} {
				_, err := r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(text)})
				r.is(err, ane.ErrCompile)
			}
		}},
		{"executable/Close", func(r *rig) {
			e, x, y := r.prepare()
			other := step.Must(r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(double)}))
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) { r.dispatch(c, e, x, y) })
			r.ok(r.execute(c))
			r.ok(r.CloseExecutable(e, r.ctx))
			r.ok(r.CloseExecutable(e, r.ctx))
			r.is(r.execute(c), hal.ErrFailed, hal.ErrClosed)
			r.now(func(c *hal.CommandBuffer) { r.dispatch(c, other, x, y) })
		}},
		{"executable_cache/CompiledOnce", func(r *rig) {
			for range 3 {
				e := step.Must(r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(double)}))
				r.ok(r.CloseExecutable(e, r.ctx))
			}
			s := r.d.Stats()
			r.that(s.Compiles == 1 && s.CacheHits == 2, "one compile and two hits")
		}},
	}
}
