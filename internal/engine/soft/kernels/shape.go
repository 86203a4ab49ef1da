package kernels

import (
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// transpose moves axis perm[i] of x to axis i.
func transpose(s *Step) (run.Runner, int) {
	perm := s.Attrs.([]int)
	strides := ops.Strides(s.In[0].Shape)
	src := make([]int, len(perm))
	for i, a := range perm {
		src[i] = strides[a]
	}
	return move(element.Size(s.In[0].DType), box{dims: s.Out[0].Shape, src: src, dst: ops.Strides(s.Out[0].Shape)})
}

// slice copies a box of x.
func slice(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Slice)
	strides, base := walked(a, s.In[0].Shape)
	b := box{dims: a.Size, src: strides, dst: ops.Strides(a.Size), srcBase: base}
	if a.Moving {
		return slide(a, s, 1, &b, &b.srcBase)
	}
	return move(element.Size(s.In[0].DType), b)
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
func sliceUpdate(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Slice)
	size := element.Size(s.In[0].DType)
	whole, _ := move(size, box{dims: s.In[0].Shape, src: ops.Strides(s.In[0].Shape), dst: ops.Strides(s.In[0].Shape)})
	strides, base := walked(a, s.In[0].Shape)
	b := box{from: 1, dims: a.Size, src: ops.Strides(a.Size), dst: strides, dstBase: base}
	if a.Moving {
		part, _ := slide(a, s, 2, &b, &b.dstBase)
		return &run.Sequence{whole, part}, 0
	}
	part, _ := move(size, b)
	return &run.Sequence{whole, part}, 0
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
func slide(a ops.Slice, s *Step, begin int, b *box, base *int) (run.Runner, int) {
	r := &slider{mover: mover{size: element.Size(s.In[0].DType)}, Slice: a, strides: ops.Strides(s.In[0].Shape),
		shape: s.In[0].Shape,
		begin: begin, to: base == &b.dstBase}
	b.dims, b.src, b.dst = merge(b.dims, b.src, b.dst)
	r.boxes = []box{*b}
	return r, 0
}

func (r *slider) Run(c *run.Call) { r.mover.Run(c) }

func (r *slider) Span(c *run.Call, lo, hi, worker int) {
	at := 0
	for i, n := range r.shape {
		reach := (r.Size[i] - 1) * r.Stride[i]
		first := r.Begin[i]
		if !r.Fixed[i] {
			if first = integer(&c.In[r.begin], i); first < 0 {
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
	for row := lo; row < hi && !c.Pause(worker); row++ {
		r.rowAt(c, b, row, src, dst)
	}
}

// concat writes its operands consecutively, or interleaved, along one axis.
func concat(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Join)
	var boxes []box
	base := 0
	for i, p := range s.In {
		dst := ops.Strides(s.Out[0].Shape)
		b := box{from: i, dims: p.Shape, src: ops.Strides(p.Shape), dst: dst, dstBase: base * dst[a.Axis]}
		base += p.Shape[a.Axis]
		if a.Interleave {
			b.dst = slices.Clone(dst)
			b.dstBase = i * dst[a.Axis]
			b.dst[a.Axis] *= len(s.In)
		}
		boxes = append(boxes, b)
	}
	return move(element.Size(s.In[0].DType), boxes...)
}

// split copies consecutive parts along one axis to its results.
func split(s *Step) (run.Runner, int) {
	axis := s.Attrs.(int)
	var boxes []box
	base := 0
	for i, p := range s.Out {
		src := ops.Strides(s.In[0].Shape)
		boxes = append(boxes, box{to: i, dims: p.Shape, src: src, dst: ops.Strides(p.Shape), srcBase: base * src[axis]})
		base += p.Shape[axis]
	}
	return move(element.Size(s.In[0].DType), boxes...)
}
