package build

import "github.com/anekit/anekit/ane/mil"

// Operators that copy elements to other places.

// Flatten2d merges the axes before axis and those from axis on: the result has two axes.
func (f *Func) Flatten2d(x Value, axis int) Value {
	return f.call("flatten2d").value("x", x).int("axis", axis).one()
}

// AxesOf are consecutive axis lengths of another tensor.
type AxesOf struct {
	Value      Value
	Begin, End int  // as in Go's Shape()[Begin:End]; negative numbers count from the end
	ToEnd      bool // End is ignored: all axes from Begin on
}

// ReshapeLike gives x the lengths of axes of other tensors, in their order.
func (f *Func) ReshapeLike(x Value, axes ...AxesOf) Value {
	c := f.call("reshape_like").value("x", x)
	var refs []Value
	var begins, ends, masks []*mil.Value
	for _, a := range axes {
		refs = append(refs, a.Value)
		begins, ends = append(begins, mil.Int32Scalar(a.Begin)), append(ends, mil.Int32Scalar(a.End))
		masks = append(masks, mil.BoolScalar(a.ToEnd))
	}
	return c.values("ref_tensors", refs).settings("begins", begins).settings("ends", ends).
		settings("end_masks", masks).one()
}

// settings adds a list of constants.
func (c *call) settings(name string, list []*mil.Value) *call {
	a := argument{name: name, list: true}
	for _, m := range list {
		one := call{f: c.f, kind: c.kind}
		one.setting(name, m.Literal, m)
		c.lost = c.lost || one.lost
		a.nodes = append(a.nodes, one.args[0].nodes...)
	}
	c.args = append(c.args, a)
	return c
}

// Stack joins values of one shape along a new axis; axis is its index in the result.
func (f *Func) Stack(axis int, values ...Value) Value {
	return f.call("stack").int("axis", axis).values("values", values).one()
}

// Tile repeats x: axis i reps[i] times.
func (f *Func) Tile(x Value, reps ...int) Value {
	return f.call("tile").value("x", x).ints("reps", reps).one()
}

// Reverse reverses the order of the elements along axes, or along all axes if the list is empty.
func (f *Func) Reverse(x Value, axes ...int) Value {
	if len(axes) == 0 {
		for i := range x.rank() {
			axes = append(axes, i)
		}
	}
	return f.call("reverse").value("x", x).ints("axes", axes).one()
}

// ReverseSequence reverses the first lengths[i] elements along seqAxis of the part of x that has index i on
// batchAxis. lengths is an integer vector.
func (f *Func) ReverseSequence(x, lengths Value, seqAxis, batchAxis int) Value {
	return f.call("reverse_sequence").value("x", x).value("lengths", lengths).int("seq_axis", seqAxis).
		int("batch_axis", batchAxis).one()
}

// Crop removes rows and columns: rows[0] above, rows[1] below, columns[0] left and columns[1] right.
func (f *Func) Crop(x Value, rows, columns [2]int) Value {
	return f.call("crop").value("x", x).ints("crop_height", rows[:]).ints("crop_width", columns[:]).one()
}

// SlidingWindows returns all windows of size elements along axis, step elements apart. The result has the axes
// window and position in place of axis.
func (f *Func) SlidingWindows(x Value, axis, size, step int) Value {
	return f.call("sliding_windows").value("x", x).int("axis", axis).int("size", size).int("stride", step).one()
}

// DepthToSpace moves channels to rows and columns of blocks: channel (row*block+column)*C+c becomes channel c of C
// at (row, column) in its block.
func (f *Func) DepthToSpace(x Value, block int) Value {
	return f.call("depth_to_space").value("x", x).int("block_size", block).one()
}

// SpaceToDepth is the inverse of DepthToSpace.
func (f *Func) SpaceToDepth(x Value, block int) Value {
	return f.call("space_to_depth").value("x", x).int("block_size", block).one()
}

// PixelShuffle moves channels to rows and columns of blocks: channel (c*factor+row)*factor+column becomes channel c
// at (row, column) in its block.
func (f *Func) PixelShuffle(x Value, factor int) Value {
	return f.call("pixel_shuffle").value("x", x).int("upscale_factor", factor).one()
}

// PixelUnshuffle is the inverse of PixelShuffle.
func (f *Func) PixelUnshuffle(x Value, factor int) Value {
	return f.call("pixel_unshuffle").value("x", x).
		setting("downscale_factor", factor, mil.IntScalar(mil.UInt32, factor)).one()
}

// SpaceToBatch moves the positions of blocks of block[0] rows and block[1] columns to the batch. rows and columns
// count the zeros before and after x.
func (f *Func) SpaceToBatch(x Value, block, rows, columns [2]int) Value {
	return f.call("space_to_batch").value("x", x).ints("block_shape", block[:]).matrix("paddings", rows, columns).one()
}

// BatchToSpace is the inverse of SpaceToBatch. rows and columns count the elements to remove before and after.
func (f *Func) BatchToSpace(x Value, block, rows, columns [2]int) Value {
	return f.call("batch_to_space").value("x", x).ints("block_shape", block[:]).matrix("crops", rows, columns).one()
}

func (c *call) matrix(name string, a, b [2]int) *call {
	list := []int{a[0], a[1], b[0], b[1]}
	return c.setting(name, list, mil.Ints(mil.TensorOf(mil.Int32, 2, 2), list))
}
