package haltest

import (
	"bytes"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
)

// commandBuffers are the families of command buffers without programs.
func commandBuffers() []testCase {
	return []testCase{
		{"command_buffer_basic/Create", func(r *rig) {
			for _, mode := range []hal.Mode{hal.OneShot, hal.Reusable} {
				c := step.Must(r.d.NewCommandBuffer(mode))
				r.ok(c.Close())
			}
			_, err := r.d.NewCommandBuffer(hal.Reusable + 1)
			r.is(err, hal.ErrMode)
		}},
		{"command_buffer_basic/SubmitEmpty", func(r *rig) {
			c := r.empty()
			r.ok(r.execute(c))
			r.ok(c.Close())
			r.ok(r.empty().Close())
			r.now((*hal.CommandBuffer).Barrier)
			r.ok(r.execute())
		}},
		{"command_buffer/Modes", func(r *rig) {
			c := step.Must(r.d.NewCommandBuffer(hal.OneShot))
			r.is(r.Execute(r.q, r.ctx, nil, nil, c), hal.ErrMode)
			r.ok(r.End(c))
			r.is(r.Execute(r.q, r.ctx, nil, nil, c, c), hal.ErrMode)
			r.ok(r.execute(c))
			r.is(r.Execute(r.q, r.ctx, nil, nil, c), hal.ErrMode)
			r.is(r.Execute(r.q, r.ctx, nil, nil, nil), hal.ErrClosed)
		}},
		{"command_buffer/Refused", func(r *rig) {
			b := r.buffer(8)
			c := step.Must(r.d.NewCommandBuffer(hal.OneShot))
			r.Fill(c, b.Range(0, 9), []byte{1})
			r.Fill(c, b.Range(0, 8), []byte{1, 2, 3})
			r.Copy(c, b.Range(0, 4), b.Range(3, 4))
			r.Update(c, b.Range(0, 4), []byte{1})
			err := r.End(c)
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
						r.fill(r.buffer(size), offset, n, pattern...)
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
		{"command_buffer_fill/Pattern1_Size1_Offset0_Length1", func(r *rig) { r.fill(r.buffer(1), 0, 1, 7) }},
		{"command_buffer_fill/Pattern2_Size2_Offset0_Length2", func(r *rig) { r.fill(r.buffer(2), 0, 2, 7, 8) }},
		{"command_buffer_fill/Pattern4_Size4_Offset0_Length4", func(r *rig) { r.fill(r.buffer(4), 0, 4, 7, 8, 9, 10) }},
		{"command_buffer_copy/OffsetsAndLengths", func(r *rig) {
			for _, x := range [][3]int{{0, 0, 40}, {1, 2, 3}, {7, 0, 33}, {40, 40, 0}, {39, 0, 1}} {
				r.copy(40, x[0], x[1], x[2])
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
		{"command_buffer_copy/CopyWholeBuffer", func(r *rig) { r.copy(1024, 0, 0, 1024) }},
		{"command_buffer_copy/CopySubBuffer", func(r *rig) { r.copy(1024, 8, 4, 1024/2-4) }},
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
		{"command_buffer_update/UpdateBufferWholeBuffer", func(r *rig) { r.update(r.buffer(16), 0, sequence(16)) }},
		{"command_buffer_update/UpdateBufferWithOffsets", func(r *rig) { r.update(r.buffer(16), 4, sequence(16)[4:12]) }},
		{"command_buffer_update/UpdateBufferSubspan", func(r *rig) { r.update(r.buffer(16), 8, sequence(16)[4:8]) }},
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
		{"command_buffer_stress/RapidFillSubmit", func(r *rig) {
			b := r.buffer(4096)
			for i := range 200 {
				r.now(func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 4096), []byte{byte(i), 0, 0xEF, 0xBE}) })
			}
			r.same(r.Bytes(b), bytes.Repeat([]byte{199, 0, 0xEF, 0xBE}, 1024))
		}},
		{"command_buffer_stress/RapidCopySubmit", func(r *rig) {
			a, b := r.buffer(4096), r.buffer(4096)
			for i := range 200 {
				copy(r.Bytes(a), bytes.Repeat([]byte{byte(i)}, 4096))
				r.now(func(c *hal.CommandBuffer) { r.Copy(c, b.Range(0, 4096), a.Range(0, 4096)) })
			}
			r.same(r.Bytes(b), bytes.Repeat([]byte{199}, 4096))
		}},
		{"command_buffer_stress/LargeFillCommandBuffer", func(r *rig) {
			const n = 512
			b, want := r.buffer(4*n), make([]byte, 0, 4*n)
			c := r.record(hal.Reusable, func(c *hal.CommandBuffer) {
				for i := range n {
					pattern := []byte{byte(i), byte(i >> 8), 0x37, 0xBD}
					r.Fill(c, b.Range(4*i, 4), pattern)
					want = append(want, pattern...)
				}
			})
			r.ok(r.execute(c))
			r.same(r.Bytes(b), want)
		}},
	}
}
