package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
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

// value returns one element of any type.
func (v *vec) value(i int) float64 {
	if v.half != nil || v.single != nil {
		var f [1]float32
		v.load(f[:], i)
		return float64(f[0])
	}
	return element.Load(v.dtype, v.raw[i*element.Size(v.dtype):])
}

// rescale is the scale and the offset of each element.
type rescale struct{ scale, offset grouping }

// newRescale plans the scale and the offset of a step: operands at and at+1, the second perhaps absent.
func newRescale(s *step, dims []int, at int) rescale {
	shape := func(p place) []int {
		if q, ok := s.attrs.(ops.Quantization); ok {
			return spreadAlong(dims, p.shape, q.Axis)
		}
		return p.shape
	}
	a := rescale{scale: newGrouping(dims, shape(s.in[at]))}
	if s.in[at+1].where != absent {
		a.offset = newGrouping(dims, shape(s.in[at+1]))
	}
	return a
}

// at returns the scale and the offset of element i. The offset is 0 if there is none.
func (a *rescale) at(scale, offset *vec, i int) (s, o float64) {
	s = scale.value(a.scale.at(i))
	if offset.raw != nil {
		o = offset.value(a.offset.at(i))
	}
	return s, o
}

// quantize divides by the scale, rounds halves to even, adds the zero point and clamps.
func quantize(s *step) (runner, int) {
	return &quantizer{newRescale(s, s.in[0].shape, 1)}, chunk
}

type quantizer struct{ rescale }

func (r *quantizer) run(c *call) { c.spread(c.out[0].len(), 8) }

func (r *quantizer) span(c *call, lo, hi, worker int) {
	out := &c.out[0]
	for ; lo < hi && !c.pause(worker); lo += chunk {
		x := c.work[worker][:min(chunk, hi-lo)]
		c.in[0].load(x, lo)
		for i, f := range x {
			scale, zero := r.at(&c.in[1], &c.in[2], lo+i)
			element.Store(out.dtype, out.raw[lo+i:], math.RoundToEven(float64(f)/scale)+zero)
		}
	}
}

// shiftScale is scale * (x - offset), rounded once.
func shiftScale(s *step) (runner, int) {
	return &scaler{newRescale(s, s.in[0].shape, 1), s.out[0].dtype}, chunk
}

type scaler struct {
	rescale
	dtype mil.DType
}

// values sets y to elements from at on, each of a type that float32 holds.
func (r *scaler) values(in *vec, y []float32, at int) {
	if in.dtype == mil.Int8 {
		in.load(y, at)
		return
	}
	for i := range y {
		y[i] = float32(in.value(at + i))
	}
}

func (r *scaler) run(c *call) { c.spread(c.out[0].len(), 8) }

func (r *scaler) span(c *call, lo, hi, worker int) {
	scales, offsets := r.scale.block(), r.offset.block()
	for ; lo < hi && !c.pause(worker); lo += chunk {
		y := c.work[worker][:min(chunk, hi-lo)]
		r.values(&c.in[0], y, lo)
		for at := 0; at < len(y); {
			scale, offset := r.at(&c.in[1], &c.in[2], lo+at)
			i := lo + at
			end := min(at+scales-i%scales, at+offsets-i%offsets, len(y))
			for j, x := range y[at:end] {
				y[at+j] = narrow(r.dtype, scale*(float64(x)-offset))
			}
			at = end
		}
		c.out[0].store(y, lo)
	}
}
