package kernels

import (
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// rowsOf returns the box of a whole tensor on its surface: its dimensions and the strides of its layout.
func rowsOf(l ane.Layout) (dims, strides []int) {
	size := l.DType.Size()
	return []int{l.Batches, l.Depth, l.Channels, l.Height, l.Width},
		[]int{l.BatchStride / size, l.DepthStride / size, l.PlaneStride / size, l.RowStride / size, 1}
}

// FromRows copies a padded input into scratch.
func FromRows(s *Step) (run.Runner, int) {
	dims, strides := rowsOf(s.Attrs.(ane.Layout))
	return s.move(box{dims: dims, src: strides})
}

// ToRows copies a dense value to an output's rows.
func ToRows(s *Step) (run.Runner, int) {
	dims, strides := rowsOf(s.Attrs.(ane.Layout))
	return s.move(box{dims: dims, dst: strides})
}

// Copy copies its operand: a state that is read, or the tensor that is written to a state.
func Copy(s *Step) (run.Runner, int) { return s.move(box{dims: []int{s.In[0].len()}}) }

// transpose moves axis perm[i] of x to axis i.
func transpose(s *Step) (run.Runner, int) {
	strides := ops.Strides(s.In[0].Shape)
	b := box{dims: s.Out[0].Shape}
	for _, a := range s.Attrs.([]int) {
		b.src = append(b.src, strides[a])
	}
	return s.move(b)
}

// slice copies a box of x. slice_update copies x, and then its operand 1 to a box.
func slice(s *Step) (run.Runner, int) {
	a, update := s.Attrs.(ops.Slice), s.Op == "slice_update"
	strides, base := ops.Strides(s.In[0].Shape), 0
	for i := range strides {
		base += a.Begin[i] * strides[i]
		strides[i] *= a.Stride[i]
	}
	b, begin := box{dims: a.Size, src: strides, srcBase: base}, 1
	if update {
		b, begin = box{from: 1, dims: a.Size, dst: strides, dstBase: base}, 2
	}
	part, _ := s.move(b)
	if a.Moving {
		b.plan()
		part = &mover{boxes: []box{b}, size: element.Size(s.In[0].DType), base: moving(a, s.In[0].Shape, begin)}
	}
	if !update {
		return part, 0
	}
	whole, _ := Copy(s)
	return &run.Sequence{whole, part}, 0
}

// moving returns where a slice of a tensor of some shape begins. Operand begin holds the first indices: negative ones
// count from the end, and those that leave no room for the slice move it inside.
func moving(a ops.Slice, shape []int, begin int) func(c *run.Call) int {
	strides := ops.Strides(shape)
	return func(c *run.Call) int {
		at := 0
		for i, n := range shape {
			first, reach := a.Begin[i], (a.Size[i]-1)*a.Stride[i]
			if !a.Fixed[i] {
				if first = integer(&c.In[begin], i); first < 0 {
					first += n
				}
			}
			at += min(max(first, -min(reach, 0)), n-1-max(reach, 0)) * strides[i]
		}
		return at
	}
}

// join writes its operands consecutively, or interleaved, along an axis (concat), or side by side along a new one
// (stack). split copies such parts to its results.
func join(s *Step) (run.Runner, int) {
	a, joined := s.Attrs.(ops.Join)
	parts, whole := s.In, s.Out[0]
	if !joined {
		a.Axis, parts, whole = s.Attrs.(int), s.Out, s.In[0]
	}
	var boxes []box
	for i, base := 0, 0; i < len(parts); i++ {
		strides, dims := ops.Strides(whole.Shape), parts[i].Shape
		step := strides[a.Axis]
		switch {
		case len(dims) < len(strides): // stack, and concat of scalars
			dims = slices.Insert(slices.Clone(dims), a.Axis, 1)
		case a.Interleave:
			strides[a.Axis] *= len(parts)
		}
		b := box{from: i, dims: dims, dst: strides, dstBase: base * step}
		if !joined {
			b = box{to: i, dims: dims, src: strides, srcBase: base * step}
		}
		boxes = append(boxes, b)
		if base += dims[a.Axis]; a.Interleave {
			base = i + 1
		}
	}
	return s.move(boxes...)
}

// pick copies the elements of x that a Box lists.
func pick(s *Step) (run.Runner, int) {
	b := s.Attrs.(ops.Box)
	return s.move(box{dims: b.Dims, src: b.Stride, srcBase: b.Base})
}

// blocks moves rows and columns of blocks to the batch (space_to_batch) or back (batch_to_space). Element
// (row, column) of a block and image n of x are image (row*columns+column)*images+n of the batch.
func blocks(s *Step) (run.Runner, int) {
	a, n, b, space, toBatch := s.Attrs.(ops.Blocks), element.Size(s.In[0].DType), s.Out[0].Shape, s.In[0].Shape,
		s.Op == "space_to_batch"
	if !toBatch {
		b, space = space, b
	}
	// An item is a row of the tensor with the larger batch.
	return newLoop(ops.Volume(b[:3]), b[3], 1, func(c *run.Call, row, _, _ int) {
		from, to := c.In[0].Raw, c.Out[0].Raw
		channel, image := row/b[2]%b[1], row/(b[2]*b[1])
		cell := image / space[0]
		y := row%b[2]*a.Block[0] + cell/a.Block[1] - a.Before[0]
		base := ((image%space[0])*space[1]+channel)*space[2] + y
		for i := range b[3] {
			x := i*a.Block[1] + cell%a.Block[1] - a.Before[1]
			inside := y >= 0 && y < space[2] && x >= 0 && x < space[3]
			at, other := (row*b[3]+i)*n, (base*space[3]+x)*n
			switch {
			case toBatch && inside:
				copy(to[at:at+n], from[other:other+n])
			case toBatch:
				clear(to[at : at+n])
			case inside:
				copy(to[other:other+n], from[at:at+n])
			}
		}
	}), 0
}

// reverseSequence reverses the first elements of x along one axis: for each position of the batch axis as many as
// lengths tells. Lengths below 0 or beyond the axis count as 0 and as the whole axis.
func reverseSequence(s *Step) (run.Runner, int) {
	a, n, shape := s.Attrs.(ops.Sequence), element.Size(s.In[0].DType), s.In[0].Shape
	strides := ops.Strides(shape)
	length, step := shape[a.Axis], strides[a.Axis]
	return newEach(s.In[0].len(), 2, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		from, to := c.In[0].Raw, c.Out[0].Raw
		for i := lo; i < hi; i++ {
			count := min(max(integer(&c.In[1], i/strides[a.Batch]%shape[a.Batch]), 0), length)
			at := i
			if k := i / step % length; k < count {
				at += (count - 1 - 2*k) * step
			}
			copy(to[i*n:][:n], from[at*n:])
		}
	}), 0
}

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

// pad adds a border to x: a constant, the mirrored interior without the edge, or the edge.
func pad(s *Step) (run.Runner, int) {
	a, shape := s.Attrs.(ops.Pad), s.Out[0].Shape
	src, dst := ops.Strides(s.In[0].Shape), ops.Strides(shape)
	boxes := []box{{dims: []int{}, src: []int{}, dst: []int{}}}
	for d, n := range s.In[0].Shape {
		// add appends count elements to the axis of all boxes: those of x from one on, a step apart.
		var longer []box
		add := func(at, count, from, step int) {
			for _, b := range boxes {
				if count > 0 {
					b.srcBase, b.dstBase = b.srcBase+from*src[d], b.dstBase+at*dst[d]
					b.dims, b.src = append(slices.Clip(b.dims), count), append(slices.Clip(b.src), step*src[d])
					b.dst = append(slices.Clip(b.dst), dst[d])
					longer = append(longer, b)
				}
			}
		}
		before, end := a.Before[d], a.Before[d]+n
		add(before, n, 0, 1)
		switch a.Mode {
		case ops.PadReflect:
			add(0, before, before, -1)
			add(end, shape[d]-end, n-2, -1)
		case ops.PadReplicate:
			add(0, before, 0, 0)
			add(end, shape[d]-end, n-1, 0)
		}
		boxes = longer
	}
	inside, _ := s.move(boxes...)
	if a.Mode != ops.PadConstant {
		return inside, 0
	}
	e := make([]byte, element.Size(s.In[0].DType))
	element.Store(s.In[0].DType, e, a.Value)
	return &run.Sequence{s.fill(e), inside}, 0
}
