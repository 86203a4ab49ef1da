package haltest

import (
	"bytes"

	"github.com/anekit/anekit/ane/hal"
)

// transfers is the family queue_transfer: one command in each submission.
func transfers() []testCase {
	return []testCase{
		{"queue_transfer/FillEntireBuffer_1Byte", func(r *rig) { r.fill(r.buffer(1024), 0, 1024, 0xAB) }},
		{"queue_transfer/FillEntireBuffer_2Byte", func(r *rig) { r.fill(r.buffer(1024), 0, 1024, 0xEF, 0xBE) }},
		{"queue_transfer/FillEntireBuffer_4Byte", func(r *rig) { r.fill(r.buffer(4096), 0, 4096, 1, 2, 3, 4) }},
		{"queue_transfer/FillSubrange", func(r *rig) { r.fill(r.buffer(256), 64, 128, 0x0D, 0xF0, 0xFE, 0xCA) }},
		{"queue_transfer/FillLargeBuffer", func(r *rig) { r.fill(r.buffer(256<<10), 0, 256<<10, 1, 2, 3, 4) }},
		{"queue_transfer/FillSizeAlignmentAndPatternClasses", func(r *rig) {
			for n := 1; n <= 4; n *= 2 {
				for _, offset := range []int{0, 1, 2, 3, 4, 7, 16, 31} {
					for _, length := range []int{1, 4, 8, 30, 31, 32, 33, 1024, 64 << 10} {
						r.fill(r.buffer(offset+length+16), offset, length, []byte{0xA5, 0x5A, 0xC3, 0x3C}[:n]...)
					}
				}
			}
		}},
		{"queue_transfer/UpdateEntireBuffer", func(r *rig) { r.update(r.buffer(256), 0, sequence(256)) }},
		{"queue_transfer/UpdateSubrange", func(r *rig) { r.update(r.buffer(256), 32, sequence(64)) }},
		{"queue_transfer/UpdateWithSourceOffset", func(r *rig) { r.update(r.buffer(64), 0, sequence(128)[64:]) }},
		{"queue_transfer/UpdateSizeAndAlignmentClasses", func(r *rig) {
			for _, x := range [][3]int{{0, 0, 4}, {3, 0, 8}, {5, 4, 8}, {1, 1, 4}, {0, 0, 16}} {
				r.update(r.buffer(x[1]+x[2]+8), x[1], sequence(x[0] + x[2])[x[0]:])
			}
		}},
		{"queue_transfer/CopyEntireBuffer", func(r *rig) { r.copy(512, 0, 0, 512) }},
		{"queue_transfer/CopyWithOffsets", func(r *rig) { r.copy(256, 128, 64, 64) }},
		{"queue_transfer/CopyLargeBuffer", func(r *rig) { r.copy(256<<10, 0, 0, 256<<10) }},
		{"queue_transfer/CopySizeAndAlignmentClasses", func(r *rig) {
			for _, n := range []int{4, 8, 16, 31, 32, 33, 64, 128, 256, 1024, 4 << 10, 16 << 10, 64 << 10} {
				for _, x := range [][2]int{{0, 0}, {8, 8}, {4, 4}, {2, 1}} {
					r.copy(n+16, x[0], x[1], n)
				}
			}
			r.copy(1<<20, 0, 0, 1<<20)
		}},
		{"queue_transfer/BurstCopySubmit", func(r *rig) {
			const n, rounds, length = 64, 8, 512
			from, to := r.buffer(length), r.buffer(n*length)
			for round := range rounds {
				copy(r.Bytes(from), bytes.Repeat([]byte{byte(round + 1)}, length))
				var ends []hal.Point
				for i := range n {
					s := r.NewSemaphore(0)
					ends = append(ends, at(s, 1)...)
					r.submit(nil, at(s, 1), r.copies(to.Range(i*length, length), from.Range(0, length)))
				}
				r.ok(r.WaitAll(r.ctx, ends...))
			}
			r.same(r.Bytes(to), bytes.Repeat([]byte{rounds}, n*length))
		}},
		{"queue_transfer/FillCopyUpdate", func(r *rig) {
			a, b := r.buffer(100), r.buffer(100)
			r.chain(r.fills(a.Range(0, 100), 3), r.updates(a.Range(10, 3), []byte("abc")),
				r.copies(b.Range(1, 20), a.Range(5, 20)))
			want := bytes.Repeat([]byte{3}, 20)
			copy(want[5:], "abc")
			r.same(r.Bytes(b)[1:21], want)
			r.same(r.Bytes(b)[21:], make([]byte, 79))
		}},
		{"queue_transfer/ChainedFillThenCopy", func(r *rig) {
			a, b := r.buffer(512), r.buffer(512)
			r.chain(r.fills(a.Range(0, 512), 0x44, 0x33, 0x22, 0x11), r.copies(b.Range(0, 512), a.Range(0, 512)))
			r.same(r.Bytes(b), bytes.Repeat([]byte{0x44, 0x33, 0x22, 0x11}, 128))
		}},
		{"queue_transfer/ChainedUpdateThenCopy", func(r *rig) {
			a, b := r.buffer(128), r.buffer(128)
			r.chain(r.updates(a.Range(0, 128), sequence(128)), r.copies(b.Range(0, 128), a.Range(0, 128)))
			r.same(r.Bytes(b), sequence(128))
		}},
		{"queue_transfer/ChainedFillCopyFill", func(r *rig) {
			a, b := r.buffer(256), r.buffer(256)
			r.chain(r.fills(a.Range(0, 256), 0xAA), r.copies(b.Range(0, 256), a.Range(0, 256)),
				r.fills(a.Range(0, 256), 0xBB))
			r.same(r.Bytes(b), bytes.Repeat([]byte{0xAA}, 256))
			r.same(r.Bytes(a), bytes.Repeat([]byte{0xBB}, 256))
		}},
		{"queue_transfer/BarrierPreservesOrdering", func(r *rig) {
			a, b := r.buffer(256), r.buffer(256)
			r.chain(r.fills(a.Range(0, 256), 0xCC), r.empty(), r.copies(b.Range(0, 256), a.Range(0, 256)))
			r.same(r.Bytes(b), bytes.Repeat([]byte{0xCC}, 256))
		}},
	}
}

// fills, updates and copies make a CommandBuffer with one command.
func (r *rig) fills(dst hal.Range, pattern ...byte) *hal.CommandBuffer {
	return r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, dst, pattern) })
}

func (r *rig) updates(dst hal.Range, data []byte) *hal.CommandBuffer {
	return r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Update(c, dst, data) })
}

func (r *rig) copies(dst, src hal.Range) *hal.CommandBuffer {
	return r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Copy(c, dst, src) })
}

// fill fills a part of a new Buffer, compares all of it, and closes it.
func (r *rig) fill(b *hal.Buffer, offset, n int, pattern ...byte) {
	given := bytes.Clone(pattern)
	c := r.fills(b.Range(offset, n), given...)
	clear(given) // the command has a copy
	r.ok(r.execute(c))
	want := make([]byte, b.Size())
	for i := range n {
		want[offset+i] = pattern[i%len(pattern)]
	}
	r.same(r.Bytes(b), want)
	r.ok(r.CloseBuffer(b))
}

// update updates a part of a new Buffer, compares all of it, and closes it.
func (r *rig) update(b *hal.Buffer, offset int, data []byte) {
	given := bytes.Clone(data)
	c := r.updates(b.Range(offset, len(data)), given)
	clear(given) // the command has a copy
	r.ok(r.execute(c))
	want := make([]byte, b.Size())
	copy(want[offset:], data)
	r.same(r.Bytes(b), want)
	r.ok(r.CloseBuffer(b))
}

// copy copies a part of a Buffer to another one, and compares all of that.
func (r *rig) copy(size, to, from, n int) {
	a, b := r.buffer(size), r.buffer(size)
	copy(r.Bytes(a), sequence(size))
	r.ok(r.execute(r.copies(b.Range(to, n), a.Range(from, n))))
	want := make([]byte, size)
	copy(want[to:], sequence(size)[from:from+n])
	r.same(r.Bytes(b), want)
	r.ok(r.CloseBuffer(a))
	r.ok(r.CloseBuffer(b))
}

// chain submits command buffers, each after the one before, the last one first.
func (r *rig) chain(steps ...*hal.CommandBuffer) {
	s := r.NewSemaphore(0)
	for i := len(steps) - 1; i >= 0; i-- {
		r.submit(at(s, uint64(i)), at(s, uint64(i+1)), steps[i])
	}
	r.ok(r.Wait(s, r.ctx, uint64(len(steps))))
}

// sequence returns n bytes that repeat late.
func sequence(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}
