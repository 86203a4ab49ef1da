package soft

import (
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/ops"
)

// transpose moves axis perm[i] of x to axis i.
func transpose(s *step) (runner, int) {
	perm := s.attrs.([]int)
	strides := ops.Strides(s.in[0].shape)
	src := make([]int, len(perm))
	for i, a := range perm {
		src[i] = strides[a]
	}
	return move(element.Size(s.in[0].dtype), box{dims: s.out[0].shape, src: src, dst: ops.Strides(s.out[0].shape)})
}

// slice copies a box of x.
func slice(s *step) (runner, int) {
	a := s.attrs.(ops.Slice)
	strides, base := walked(a, s.in[0].shape)
	b := box{dims: a.Size, src: strides, dst: ops.Strides(a.Size), srcBase: base}
	if a.Moving {
		return slide(a, s, 1, &b, &b.srcBase)
	}
	return move(element.Size(s.in[0].dtype), b)
}

// walked returns the strides of a slice in its dense tensor, and the offset of its first element.
func walked(a ops.Slice, shape []int) (strides []int, base int) {
	strides = ops.Strides(shape)
	for i := range strides {
		base += a.Begin[i] * strides[i]
		strides[i] *= a.Stride[i]
	}
	return strides, base
}

// sliceUpdate copies x and replaces a box of it.
func sliceUpdate(s *step) (runner, int) {
	a := s.attrs.(ops.Slice)
	size := element.Size(s.in[0].dtype)
	whole, _ := move(size, box{dims: s.in[0].shape, src: ops.Strides(s.in[0].shape), dst: ops.Strides(s.in[0].shape)})
	strides, base := walked(a, s.in[0].shape)
	b := box{from: 1, dims: a.Size, src: ops.Strides(a.Size), dst: strides, dstBase: base}
	if a.Moving {
		part, _ := slide(a, s, 2, &b, &b.dstBase)
		return &sequence{whole, part}, 0
	}
	part, _ := move(size, b)
	return &sequence{whole, part}, 0
}

// slider is a mover of one box whose first element is known at run time.
type slider struct {
	mover
	ops.Slice
	strides []int // of the tensor that the slice is of
	shape   []int
	begin   int  // index of the operand that holds the first indices
	to      bool // the slice is of the result
}

// slide plans a moving slice of operand 0, or of the result if base is the destination's. Operand begin holds the
// first indices: negative ones count from the end, and those that leave no room for the slice move it inside.
func slide(a ops.Slice, s *step, begin int, b *box, base *int) (runner, int) {
	r := &slider{mover: mover{size: element.Size(s.in[0].dtype)}, Slice: a, strides: ops.Strides(s.in[0].shape),
		shape: s.in[0].shape,
		begin: begin, to: base == &b.dstBase}
	b.dims, b.src, b.dst = merge(b.dims, b.src, b.dst)
	r.boxes = []box{*b}
	return r, 0
}

func (r *slider) run(c *call) { r.mover.run(c) }

func (r *slider) span(c *call, lo, hi, worker int) {
	at := 0
	for i, n := range r.shape {
		reach := (r.Size[i] - 1) * r.Stride[i]
		first := r.Begin[i]
		if !r.Fixed[i] {
			if first = integer(&c.in[r.begin], i); first < 0 {
				first += n
			}
		}
		first = min(max(first, -min(reach, 0)), n-1-max(reach, 0))
		at += first * r.strides[i]
	}
	b := &r.boxes[0]
	src, dst := at, 0
	if r.to {
		src, dst = 0, at
	}
	for row := lo; row < hi && !c.pause(worker); row++ {
		r.rowAt(c, b, row, src, dst)
	}
}

// sequence runs its parts one after another: all of the first is done before the second begins.
type sequence []runner

func (r *sequence) run(c *call) {
	for _, part := range *r {
		c.run = part
		part.run(c)
	}
	c.run = r
}

// span implements runner; the parts have their own.
func (r *sequence) span(*call, int, int, int) {}

// concat writes its operands consecutively, or interleaved, along one axis.
func concat(s *step) (runner, int) {
	a := s.attrs.(ops.Join)
	var boxes []box
	base := 0
	for i, p := range s.in {
		dst := ops.Strides(s.out[0].shape)
		b := box{from: i, dims: p.shape, src: ops.Strides(p.shape), dst: dst, dstBase: base * dst[a.Axis]}
		base += p.shape[a.Axis]
		if a.Interleave {
			b.dst = slices.Clone(dst)
			b.dstBase = i * dst[a.Axis]
			b.dst[a.Axis] *= len(s.in)
		}
		boxes = append(boxes, b)
	}
	return move(element.Size(s.in[0].dtype), boxes...)
}

// split copies consecutive parts along one axis to its results.
func split(s *step) (runner, int) {
	axis := s.attrs.(int)
	var boxes []box
	base := 0
	for i, p := range s.out {
		src := ops.Strides(s.in[0].shape)
		boxes = append(boxes, box{to: i, dims: p.shape, src: src, dst: ops.Strides(p.shape), srcBase: base * src[axis]})
		base += p.shape[axis]
	}
	return move(element.Size(s.in[0].dtype), boxes...)
}
