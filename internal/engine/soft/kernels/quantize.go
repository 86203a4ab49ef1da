package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// grouping finds the element of a parameter, such as a scale, that belongs to an element of the data: each has one for
// a block of elements along each axis.
type grouping struct{ dims, size, stride []int }

// newGrouping plans the grouping of a parameter with as many axes as the data.
func newGrouping(dims, shape []int) grouping {
	b := grouping{dims: dims, stride: ops.Strides(shape)}
	for i, n := range dims {
		b.size = append(b.size, n/shape[i])
	}
	return b
}

// at returns the index in the parameter for element i of the data.
func (b *grouping) at(i int) int {
	at := 0
	for d := len(b.dims) - 1; d >= 0; d-- {
		at += i % b.dims[d] / b.size[d] * b.stride[d]
		i /= b.dims[d]
	}
	return at
}

// block is how many elements of the data, from a multiple of it on, have one index in the parameter.
func (b *grouping) block() int {
	n := 1
	for d := len(b.dims) - 1; d >= 0; d-- {
		n *= b.size[d]
		if b.size[d] != b.dims[d] {
			return n
		}
	}
	return max(n, math.MaxInt32) // all elements have the same
}

// spreadAlong returns the shape of a scalar, or of a vector along an axis, with as many axes as dims.
func spreadAlong(dims, shape []int, axis int) []int {
	full := make([]int, len(dims))
	for i := range full {
		full[i] = 1
	}
	if len(shape) > 0 {
		full[axis] = shape[0]
	}
	return full
}

// rescale is the scale and the offset of each element.
type rescale struct{ scale, offset grouping }

// newRescale plans the scale and the offset of a step: operands at and at+1, the second perhaps absent.
func newRescale(s *Step, dims []int, at int) rescale {
	shape := func(p *Tensor) []int {
		if q, ok := s.Attrs.(ops.Quantization); ok {
			return spreadAlong(dims, p.Shape, q.Axis)
		}
		return p.Shape
	}
	a := rescale{scale: newGrouping(dims, shape(s.In[at]))}
	if s.In[at+1].Given {
		a.offset = newGrouping(dims, shape(s.In[at+1]))
	}
	return a
}

// at returns the scale and the offset of element i. The offset is 0 if there is none.
func (a *rescale) at(scale, offset *run.Vec, i int) (s, o float64) {
	s = scale.Value(a.scale.at(i))
	if offset.Raw != nil {
		o = offset.Value(a.offset.at(i))
	}
	return s, o
}

// quantize divides by the scale, rounds halves to even, adds the zero point and clamps.
func quantize(s *Step) (run.Runner, int) {
	a := newRescale(s, s.In[0].Shape, 1)
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		x, out := c.Work[worker][:hi-lo], &c.Out[0]
		c.In[0].Load(x, lo)
		for i, f := range x {
			scale, zero := a.at(&c.In[1], &c.In[2], lo+i)
			element.Store(out.DType, out.Raw[lo+i:], math.RoundToEven(float64(f)/scale)+zero)
		}
	}), run.Chunk
}

// shiftScale is scale * (x - offset), rounded once. float32 holds each x.
func shiftScale(s *Step) (run.Runner, int) {
	a, from, d := newRescale(s, s.In[0].Shape, 1), s.In[0].DType, s.Out[0].DType
	scales, offsets := a.scale.block(), a.offset.block()
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		y, in := c.Work[worker][:hi-lo], &c.In[0]
		if from == mil.Int8 {
			in.Load(y, lo)
		} else {
			for i := range y {
				y[i] = float32(in.Value(lo + i))
			}
		}
		for at := 0; at < len(y); {
			scale, offset := a.at(&c.In[1], &c.In[2], lo+at)
			i := lo + at
			end := min(at+scales-i%scales, at+offsets-i%offsets, len(y))
			for j, x := range y[at:end] {
				y[at+j] = narrow(d, scale*(float64(x)-offset))
			}
			at = end
		}
		c.Out[0].Store(y, lo)
	}), run.Chunk
}
