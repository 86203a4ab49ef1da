package haltest

import (
	"bytes"
	"context"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
)

// commandBuffers are the families of command buffers.
func commandBuffers() []testCase {
	return []testCase{
		{"command_buffer/Empty", func(r *rig) {
			r.now(func(*hal.CommandBuffer) {})
			r.now(func(c *hal.CommandBuffer) { r.Barrier(c) })
			r.ok(r.execute())
		}},
		{"command_buffer/Modes", func(r *rig) {
			c, err := r.d.NewCommandBuffer(hal.OneShot)
			r.ok(err)
			r.is(r.Execute(r.q, r.ctx, nil, nil, c), hal.ErrMode)
			r.ok(r.End(c))
			r.is(r.Execute(r.q, r.ctx, nil, nil, c, c), hal.ErrMode)
			r.ok(r.execute(c))
			r.is(r.Execute(r.q, r.ctx, nil, nil, c), hal.ErrMode)
			r.is(r.Execute(r.q, r.ctx, nil, nil, nil), hal.ErrClosed)
		}},
		{"command_buffer/Refused", func(r *rig) {
			b := r.buffer(8)
			c, err := r.d.NewCommandBuffer(hal.OneShot)
			r.ok(err)
			r.Fill(c, b.Range(0, 9), []byte{1})
			r.Fill(c, b.Range(0, 8), []byte{1, 2, 3})
			r.Copy(c, b.Range(0, 4), b.Range(3, 4))
			r.Update(c, b.Range(0, 4), []byte{1})
			err = r.End(c)
			r.is(err, hal.ErrOutOfRange, hal.ErrPattern, hal.ErrOverlap)
			joined, ok := err.(interface{ Unwrap() []error }) // the list itself is looked at
			r.that(ok && len(joined.Unwrap()) == 4, "End joins one error for each command")
			r.is(r.Execute(r.q, r.ctx, nil, nil, c), hal.ErrMode)
		}},
		{"command_buffer_fill/PatternsOffsetsAndLengths", func(r *rig) {
			const size = 24
			for _, pattern := range [][]byte{{0xA1}, {0xA1, 0xB2}, {0xA1, 0xB2, 0xC3, 0xD4}} {
				for offset := range 5 {
					for _, n := range []int{0, 1, 2, 3, 5, 8, size - 5} {
						b := r.buffer(size)
						given := bytes.Clone(pattern)
						c := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(offset, n), given) })
						clear(given)
						r.ok(r.execute(c))
						want := make([]byte, size)
						for i := range n {
							want[offset+i] = pattern[i%len(pattern)]
						}
						r.same(r.Bytes(b), want)
						r.ok(r.CloseBuffer(b))
					}
				}
			}
		}},
		{"command_buffer_fill/Neighbors", func(r *rig) {
			b := r.buffer(12)
			r.now(func(c *hal.CommandBuffer) {
				r.Fill(c, b.Range(0, 3), []byte{1, 2})
				r.Fill(c, b.Range(3, 3), []byte{1, 2})
				r.Fill(c, b.Range(6, 3), []byte{2, 1})
				r.Fill(c, b.Range(5, 2), []byte{7})
			})
			r.same(r.Bytes(b), []byte{1, 2, 1, 1, 2, 7, 7, 1, 2, 0, 0, 0})
		}},
		{"command_buffer_copy/OffsetsAndLengths", func(r *rig) {
			a, b := r.buffer(40), r.buffer(40)
			for i := range r.Bytes(a) {
				r.Bytes(a)[i] = byte(i + 1)
			}
			for _, x := range [][3]int{{0, 0, 40}, {1, 2, 3}, {7, 0, 33}, {40, 40, 0}, {39, 0, 1}} {
				clear(r.Bytes(b))
				r.now(func(c *hal.CommandBuffer) { r.Copy(c, b.Range(x[0], x[2]), a.Range(x[1], x[2])) })
				want := make([]byte, 40)
				copy(want[x[0]:], r.Bytes(a)[x[1]:x[1]+x[2]])
				r.same(r.Bytes(b), want)
			}
		}},
		{"command_buffer_copy/EachReadsWhatWasWritten", func(r *rig) {
			b := r.buffer(32)
			copy(r.Bytes(b), "12345678")
			r.now(func(c *hal.CommandBuffer) {
				r.Copy(c, b.Range(8, 8), b.Range(0, 8))
				r.Copy(c, b.Range(16, 8), b.Range(8, 8))
				r.Fill(c, b.Range(8, 8), []byte("x"))
				r.Copy(c, b.Range(24, 8), b.Range(16, 8))
			})
			r.same(r.Bytes(b), []byte("12345678xxxxxxxx1234567812345678"))
		}},
		{"command_buffer_update/Captures", func(r *rig) {
			b := r.buffer(8)
			data := []byte("abc")
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) {
				r.Update(c, b.Range(1, 3), data)
				copy(data, "xyz")
				r.Update(c, b.Range(3, 3), data)
			})
			clear(data)
			r.ok(r.execute(c))
			r.same(r.Bytes(b), []byte("\x00abxyz\x00\x00"))
		}},
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
				c, err := r.d.NewCommandBuffer(hal.OneShot)
				r.ok(err)
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
				r.ok(r.Execute(r.q, context.Background(), at(s, v), at(s, v+1), c))
			}
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 3))
			r.same(r.Bytes(x), four())
		}},
		{"command_buffer_transient_buffer/RecordedBeforeAlloca", func(r *rig) {
			e, x, y := r.prepare()
			s := r.NewSemaphore(0)
			between, err := r.Alloca(r.q, context.Background(), at(s, 1), at(s, 2), row)
			r.ok(err)
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) {
				r.dispatch(c, e, x, between)
				r.dispatch(c, e, between, y)
			})
			copy(r.Bytes(x), one())
			r.ok(r.Dealloca(r.q, context.Background(), at(s, 3), at(s, 4), between))
			r.ok(r.Execute(r.q, context.Background(), at(s, 2), at(s, 3), c))
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 4))
			r.same(r.Bytes(y), four())
			r.that(r.Bytes(between) == nil, "the memory is free")
		}},
		{"command_buffer_stress/ManyCommands", func(r *rig) {
			const n = 5000
			b := r.buffer(n)
			r.now(func(c *hal.CommandBuffer) {
				for i := range n {
					r.Fill(c, b.Range(i, 1), []byte{byte(i * 7)})
					if i%3 == 0 && i > 0 {
						r.Copy(c, b.Range(i-1, 1), b.Range(i, 1))
					}
				}
			})
			want := make([]byte, n)
			for i := range want {
				want[i] = byte(i * 7)
				if i%3 == 0 && i > 0 {
					want[i-1] = want[i]
				}
			}
			r.same(r.Bytes(b), want)
		}},
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
			_, err := r.Prepare(r.d, r.ctx, ane.Source{Text: []byte("no program")})
			r.is(err, ane.ErrCompile)
		}},
		{"executable/Close", func(r *rig) {
			e, x, y := r.prepare()
			other, err := r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(double)})
			r.ok(err)
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) { r.dispatch(c, e, x, y) })
			r.ok(r.execute(c))
			r.ok(r.CloseExecutable(e, r.ctx))
			r.ok(r.CloseExecutable(e, r.ctx))
			r.is(r.execute(c), hal.ErrFailed, hal.ErrClosed)
			r.now(func(c *hal.CommandBuffer) { r.dispatch(c, other, x, y) })
		}},
		{"executable_cache/CompiledOnce", func(r *rig) {
			for range 3 {
				e, err := r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(double)})
				r.ok(err)
				r.ok(r.CloseExecutable(e, r.ctx))
			}
			s := r.d.Stats()
			r.that(s.Compiles == 1 && s.CacheHits == 2, "one compile and two hits")
		}},
	}
}
