package soft

import (
	"slices"

	"github.com/anekit/anekit/ane/mil/ops"
)

// transpose moves axis perm[i] of x to axis i.
func transpose(s *step) (runner, int) {
	perm := s.attrs.([]int)
	strides := dense(s.in[0].shape)
	src := make([]int, len(perm))
	for i, a := range perm {
		src[i] = strides[a]
	}
	return move(s.in[0].dtype.Size(), box{dims: s.out[0].shape, src: src, dst: dense(s.out[0].shape)})
}

// slice copies a box of x.
func slice(s *step) (runner, int) {
	a := s.attrs.(ops.Slice)
	src := dense(s.in[0].shape)
	base := 0
	for i := range src {
		base += a.Begin[i] * src[i]
		src[i] *= a.Stride[i]
	}
	return move(s.in[0].dtype.Size(), box{dims: a.Size, src: src, dst: dense(a.Size), srcBase: base})
}

// concat writes its operands consecutively, or interleaved, along one axis.
func concat(s *step) (runner, int) {
	a := s.attrs.(ops.Join)
	var boxes []box
	base := 0
	for i, p := range s.in {
		dst := dense(s.out[0].shape)
		b := box{from: i, dims: p.shape, src: dense(p.shape), dst: dst, dstBase: base * dst[a.Axis]}
		base += p.shape[a.Axis]
		if a.Interleave {
			b.dst = slices.Clone(dst)
			b.dstBase = i * dst[a.Axis]
			b.dst[a.Axis] *= len(s.in)
		}
		boxes = append(boxes, b)
	}
	return move(s.in[0].dtype.Size(), boxes...)
}

// split copies consecutive parts along one axis to its results.
func split(s *step) (runner, int) {
	axis := s.attrs.(int)
	var boxes []box
	base := 0
	for i, p := range s.out {
		src := dense(s.in[0].shape)
		boxes = append(boxes, box{to: i, dims: p.shape, src: src, dst: dense(p.shape), srcBase: base * src[axis]})
		base += p.shape[axis]
	}
	return move(s.in[0].dtype.Size(), boxes...)
}
