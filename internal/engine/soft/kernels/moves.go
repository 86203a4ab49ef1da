package kernels

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// pick copies the elements of x that a Box lists.
func pick(s *Step) (run.Runner, int) {
	b := s.Attrs.(ops.Box)
	return move(element.Size(s.In[0].DType), box{dims: b.Dims, src: b.Stride,
		dst: ops.Strides(b.Dims), srcBase: b.Base})
}

// stack writes its operands side by side along a new axis.
func stack(s *Step) (run.Runner, int) {
	axis := s.Attrs.(ops.Join).Axis
	strides := ops.Strides(s.Out[0].Shape)
	var boxes []box
	for i, p := range s.In {
		dst := slices.Delete(slices.Clone(strides), axis, axis+1)
		boxes = append(boxes, box{from: i, dims: p.Shape, src: ops.Strides(p.Shape), dst: dst,
			dstBase: i * strides[axis]})
	}
	return move(element.Size(s.In[0].DType), boxes...)
}

// blocks moves rows and columns of blocks to the batch (space_to_batch) or back (batch_to_space). Element
// (row, column) of a block and image n of x are image (row*columns+column)*images+n of the batch.
func blocks(s *Step) (run.Runner, int) {
	r := &blocker{Blocks: s.Attrs.(ops.Blocks), size: element.Size(s.In[0].DType), batch: s.Out[0].Shape,
		space:   s.In[0].Shape,
		toBatch: s.Op == "space_to_batch"}
	if !r.toBatch {
		r.batch, r.space = r.space, r.batch
	}
	return r, 0
}

type blocker struct {
	ops.Blocks
	size         int // of an element in bytes
	batch, space []int
	toBatch      bool
}

func (r *blocker) Run(c *run.Call) { c.Spread(ops.Volume(r.batch[:3]), r.batch[3]) }

// Span moves rows lo to hi of the tensor with the larger batch.
func (r *blocker) Span(c *run.Call, lo, hi, worker int) {
	b, s, n := r.batch, r.space, r.size
	from, to := c.In[0].Raw, c.Out[0].Raw
	for row := lo; row < hi && !c.Pause(worker); row++ {
		y := row % b[2]
		channel := row / b[2] % b[1]
		image := row / (b[2] * b[1])
		cell := image / s[0]
		y = y*r.Block[0] + cell/r.Block[1] - r.Before[0]
		base := ((image%s[0])*s[1]+channel)*s[2] + y
		for i := range b[3] {
			x := i*r.Block[1] + cell%r.Block[1] - r.Before[1]
			inside := y >= 0 && y < s[2] && x >= 0 && x < s[3]
			at, other := (row*b[3]+i)*n, (base*s[3]+x)*n
			switch {
			case r.toBatch && inside:
				copy(to[at:at+n], from[other:other+n])
			case r.toBatch:
				clear(to[at : at+n])
			case inside:
				copy(to[other:other+n], from[at:at+n])
			}
		}
	}
}

// reverseSequence reverses the first elements of x along one axis: for each position of the batch axis as many as
// lengths tells. Lengths below 0 or beyond the axis count as 0 and as the whole axis.
func reverseSequence(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Sequence)
	shape := s.In[0].Shape
	return &sequencer{size: element.Size(s.In[0].DType), shape: shape, strides: ops.Strides(shape), Sequence: a}, 0
}

type sequencer struct {
	ops.Sequence
	size           int
	shape, strides []int
}

func (r *sequencer) Run(c *run.Call) { c.Spread(ops.Volume(r.shape), 2) }

func (r *sequencer) Span(c *run.Call, lo, hi, worker int) {
	from, to, n := c.In[0].Raw, c.Out[0].Raw, r.size
	length, step := r.shape[r.Axis], r.strides[r.Axis]
	for i := lo; i < hi; i++ {
		if i%run.Chunk == 0 && c.Pause(worker) {
			return
		}
		count := min(max(integer(&c.In[1], i/r.strides[r.Batch]%r.shape[r.Batch]), 0), length)
		at := i
		if k := i / step % length; k < count {
			at += (count - 1 - 2*k) * step
		}
		copy(to[i*n:][:n], from[at*n:])
	}
}

// integer returns element i of a tensor of integers.
func integer(v *run.Vec, i int) int {
	switch v.DType {
	case mil.Int32:
		return int(v.Ints[i])
	case mil.Int16:
		return int(int16(v.Pairs[i]))
	case mil.UInt16:
		return int(v.Pairs[i])
	case mil.Int8:
		return int(int8(v.Raw[i]))
	case mil.UInt32:
		return int(v.Quads[i])
	}
	return int(v.Raw[i])
}
