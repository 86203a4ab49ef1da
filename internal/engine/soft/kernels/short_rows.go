package kernels

import (
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// shortRow is the length of rows that are too short for a call of package halves each.
const shortRow = 64

// shortBinary is halfBinary for operands of which one is repeated in short rows. It writes such an operand as it is
// repeated, many rows at a time.
type shortBinary struct{ halfBinary }

// short reports whether both operands advance by the same elements only in short rows.
func (w *walk) short() bool { return len(w.dims) > 1 && w.dims[len(w.dims)-1] < shortRow }

func (r *shortBinary) Span(c *run.Call, lo, hi, worker int) {
	w := &r.walk
	var rooms [2][run.Chunk]fp16.Bits
	row := w.dims[len(w.dims)-1]
	most := run.Chunk / row * row // whole rows, so that an operand that is one row stays as it was written
	x := repeats{v: c.In[0].Half, by: w.xs, dims: w.dims, room: &rooms[0]}
	y := repeats{v: c.In[1].Half, by: w.ys, dims: w.dims, room: &rooms[1]}
	for lo < hi && !c.Pause(worker) {
		n := min(hi-lo, most)
		halves.Binary(r.op, c.Out[0].Half[lo:lo+n], x.next(lo, n), y.next(lo, n))
		lo += n
	}
}

// repeats writes elements of an operand in the order of the result.
type repeats struct {
	v        []fp16.Bits
	by, dims []int
	room     *[run.Chunk]fp16.Bits
	written  int // elements of one row that is the whole operand
}

// next returns the operand's elements for elements lo to lo+n of the result.
func (r *repeats) next(lo, n int) []fp16.Bits {
	last := len(r.dims) - 1
	if dense(r.dims, r.by) {
		return r.v[lo : lo+n]
	}
	if r.written >= n {
		return r.room[:n]
	}
	row, col := lo/r.dims[last], lo%r.dims[last]
	for i := 0; i < n; {
		at := offset(row, r.dims[:last], r.by[:last])
		for rows := r.dims[last-1] - row%r.dims[last-1]; rows > 0 && i < n; rows-- {
			to := r.room[i:min(i+r.dims[last]-col, n)]
			if from := r.v[at+col*r.by[last]:]; r.by[last] != 0 {
				copy(to, from)
			} else {
				for k := range to {
					to[k] = from[0]
				}
			}
			i += len(to)
			at += r.by[last-1]
			row, col = row+1, 0
		}
	}
	if !slices.ContainsFunc(r.by[:last], func(by int) bool { return by != 0 }) {
		r.written = n
	}
	return r.room[:n]
}

// dense reports whether strides are those of a tensor without repetition.
func dense(dims, by []int) bool {
	step := 1
	for d := len(dims) - 1; d >= 0; d-- {
		if by[d] != step {
			return false
		}
		step *= dims[d]
	}
	return true
}
