package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// moves copy elements of x to other places, bit by bit. Attrs is a Box; of stack a Join;
// of space_to_batch and batch_to_space a Blocks; of reverse_sequence a Sequence.
var moves = []Def{
	{Name: "tile", Params: []Param{tensor("x"), sized("reps")}, infer: inferTile},
	{Name: "reverse", Params: []Param{tensor("x"), option("axes")}, infer: inferReverse},
	{Name: "crop", Params: []Param{tensor("x"), setting("crop_height"), setting("crop_width")}, infer: inferCrop},
	{Name: "sliding_windows", support: nowhere("unfold with slices"),
		Params: []Param{tensor("x"), setting("axis"), sized("size"), option("stride")},
		infer:  inferSlidingWindows},
	{Name: "depth_to_space", Params: []Param{tensor("x"), setting("block_size")}, infer: func(c *Call) {
		c.toSpace("block_size", [3]int{2, 0, 1})
	}},
	{Name: "pixel_shuffle", Params: []Param{tensor("x"), setting("upscale_factor")}, infer: func(c *Call) {
		c.toSpace("upscale_factor", [3]int{0, 1, 2})
	}},
	{Name: "space_to_depth", Params: []Param{tensor("x"), setting("block_size")}, infer: func(c *Call) {
		c.toDepth("block_size", [3]int{2, 0, 1})
	}},
	{Name: "pixel_unshuffle", Params: []Param{tensor("x"), setting("downscale_factor")}, infer: func(c *Call) {
		c.toDepth("downscale_factor", [3]int{0, 1, 2})
	}},
	{Name: "space_to_batch", support: support{bridge: true},
		Params: []Param{tensor("x"), setting("block_shape"), setting("paddings")},
		infer:  inferSpaceToBatch},
	{Name: "batch_to_space", support: support{bridge: true},
		Params: []Param{tensor("x"), setting("block_shape"), setting("crops")},
		infer:  inferBatchToSpace},
	{Name: "stack", support: support{contested: "reshape and concat run on other machines"},
		Params: []Param{variadic("values"), setting("axis")}, infer: inferStack},
	{Name: "reverse_sequence", support: nowhere(onHost),
		Params: []Param{tensor("x"), tensor("lengths"), option("seq_axis"),
			option("batch_axis")}, infer: inferReverseSequence},
}

// Box lists elements of x: the result holds, in row-major order over Dims, the elements at Base + i*Stride
// of the dense x. Volume(Dims) is the number of elements of the result.
type Box struct {
	Dims, Stride []int
	Base         int
}

// Blocks holds the settings of space_to_batch and batch_to_space.
type Blocks struct {
	Block  [2]int // rows and columns
	Before [2]int // rows above and columns left of x that paddings adds or crops removes
}

// Sequence holds the settings of reverse_sequence.
type Sequence struct{ Axis, Batch int }

// Strides returns the distances, in elements, between neighbours along each axis of a dense tensor.
func Strides(shape []int) []int {
	strides := make([]int, len(shape))
	step := 1
	for i, n := range slices.Backward(shape) {
		strides[i] = step
		step *= n
	}
	return strides
}

// cpu remarks that Apple's engine has no such operator.
func (c *Call) cpu() {
	if !c.failed() {
		c.notes = append(c.notes, "never runs on Apple's Neural Engine; Core ML runs it on the CPU")
	}
}

func inferTile(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	reps := c.ints("reps", x.Rank(), nil)
	if c.failed() {
		return
	}
	var b Box
	shape := slices.Clone(x.Shape)
	strides := Strides(x.Shape)
	for i, n := range reps {
		if n < 1 || n > MaxElements {
			c.fail("reps", "repeat every axis at least once", "%d times axis %d of x%v", n, i, x.Shape)
			return
		}
		shape[i] *= n
		b.Dims, b.Stride = append(b.Dims, n, x.Shape[i]), append(b.Stride, 0, strides[i])
	}
	c.attrs = b
	c.gives(x.DType, shape)
}

func inferReverse(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	all := make([]int, x.Rank())
	for i := range all {
		all[i] = i
	}
	axes := c.axes("axes", x.Rank(), all)
	if c.failed() {
		return
	}
	b := Box{Dims: x.Shape, Stride: Strides(x.Shape)}
	for _, a := range axes {
		b.Base += (x.Shape[a] - 1) * b.Stride[a]
		b.Stride[a] *= -1
	}
	c.attrs = b
	c.gives(x.DType, x.Shape)
}

func inferCrop(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	n := x.Rank()
	if n < 2 {
		c.fail("x", "use [N, C, H, W]", "shape %v has no rows and columns", x.Shape)
		return
	}
	rows, columns := c.ints("crop_height", 2, []int{0, 0}), c.ints("crop_width", 2, []int{0, 0})
	if c.failed() {
		return
	}
	b := Box{Dims: slices.Clone(x.Shape), Stride: Strides(x.Shape)}
	for i, cut := range [][]int{rows, columns} {
		axis, name := n-2+i, []string{"crop_height", "crop_width"}[i]
		length := x.Shape[axis]
		if min(cut[0], cut[1]) < 0 || max(cut[0], cut[1]) >= length || cut[0]+cut[1] >= length {
			c.fail(name, "counts are at least 0, and one element stays", "%v of axis %d of x%v", cut, axis, x.Shape)
			return
		}
		b.Dims[axis] -= cut[0] + cut[1]
		b.Base += cut[0] * b.Stride[axis]
	}
	c.attrs = b
	c.gives(x.DType, b.Dims)
}

func inferSlidingWindows(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	axis := c.axis("axis", x.Rank(), 0)
	size, step := c.integer("size", 1), c.integer("stride", 1)
	if c.failed() {
		return
	}
	length := x.Shape[axis]
	if size < 1 || size > length {
		c.fail("size", "choose from 1 to the length of the axis", "windows of %d on axis %d of x%v", size, axis,
			x.Shape)
		return
	}
	if step < 1 || step > MaxElements {
		c.fail("stride", "strides are at least 1 and below 2^31", "%d", step)
		return
	}
	strides := Strides(x.Shape)
	b := Box{Dims: slices.Insert(slices.Clone(x.Shape), axis, (length-size)/step+1)}
	b.Dims[axis+1] = size
	b.Stride = slices.Insert(slices.Clone(strides), axis, strides[axis]*step)
	c.cpu()
	c.attrs = b
	c.gives(x.DType, b.Dims)
}

// image returns x of rank 4 and a block size above 0.
func (c *Call) image(name string) (x *Value, block int) {
	x = c.tensor("x")
	c.needs("x", storable...)
	block = c.integer(name, 1)
	if x.Rank() != 4 {
		c.fail("x", "use [N, C, H, W]", "shape %v", x.Shape)
	}
	if block < 1 || block > maxSetting {
		c.fail(name, "choose from 1 to 65536", "%d", block)
	}
	return x, block
}

// toSpace moves channels to blocks of rows and columns. Channels are split into three axes, in the order that
// order tells: order[0] is the position of the axis of channels that stay, then of rows and columns in a block.
func (c *Call) toSpace(name string, order [3]int) {
	x, block := c.image(name)
	if c.failed() {
		return
	}
	n, ch, h, w := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	if ch%(block*block) != 0 {
		c.fail(name, "the square of it divides the channels", "%d channels of x%v with blocks of %d", ch, x.Shape,
			block)
		return
	}
	left := ch / (block * block)
	split, plane := positions(left, block, order), h*w
	c.attrs = Box{Dims: []int{n, left, h, block, w, block},
		Stride: []int{ch * plane, split[0] * plane, w, split[1] * plane, 1, split[2] * plane}}
	c.gives(x.DType, []int{n, left, h * block, w * block})
}

// toDepth is the inverse of toSpace.
func (c *Call) toDepth(name string, order [3]int) {
	x, block := c.image(name)
	if c.failed() {
		return
	}
	n, ch, h, w := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
	if h%block != 0 || w%block != 0 {
		c.fail(name, "it divides rows and columns", "%d rows and %d columns of x%v with blocks of %d", h, w, x.Shape,
			block)
		return
	}
	var dims, strides [3]int // of the result's channels
	for axis, at := range order {
		dims[at] = []int{ch, block, block}[axis]
		strides[at] = []int{h * w, w, 1}[axis]
	}
	c.attrs = Box{Dims: []int{n, dims[0], dims[1], dims[2], h / block, w / block},
		Stride: []int{ch * h * w, strides[0], strides[1], strides[2], w * block, block}}
	c.gives(x.DType, []int{n, ch * block * block, h / block, w / block})
}

// positions returns the strides, in channels, of the channels that stay, the rows and the columns of a block.
func positions(left, block int, order [3]int) (strides [3]int) {
	var dims [3]int
	for axis, at := range order {
		dims[at] = []int{left, block, block}[axis]
	}
	dense := Strides(dims[:])
	for axis, at := range order {
		strides[axis] = dense[at]
	}
	return strides
}

// borders reads block_shape and a matrix of counts for rows and columns.
func (c *Call) borders(name string) (a Blocks, both [2]int) {
	x := c.tensor("x")
	c.needs("x", storable...)
	block := c.ints("block_shape", 2, []int{1, 1})
	counts := c.setting(name, mil.DType.Integer, "a matrix of integers", "tensor<int32, [2, 2]>([[0, 0], [0, 0]])")
	if c.failed() {
		return a, both
	}
	if v := c.tensor(name); v.Rank() != 2 || v.Shape[0] != 2 || v.Shape[1] != 2 {
		c.fail(name, "give a matrix of 2 x 2: before and after for rows and for columns", "%s does not fit", v.Type())
		return a, both
	}
	if x.Rank() != 4 {
		c.fail("x", "use [N, C, H, W]", "shape %v", x.Shape)
		return a, both
	}
	for i := range 2 {
		before, after := counts[2*i], counts[2*i+1]
		if min(before, after) < 0 || max(before, after) > maxSetting {
			c.fail(name, "counts are from 0 to 65536", "%.0f and %.0f", before, after)
			return a, both
		}
		if block[i] < 1 || block[i] > maxSetting {
			c.fail("block_shape", "choose from 1 to 65536", "%v", block)
			return a, both
		}
		a.Block[i], a.Before[i], both[i] = block[i], int(before), int(before+after)
	}
	return a, both
}

func inferSpaceToBatch(c *Call) {
	x := c.tensor("x")
	a, both := c.borders("paddings")
	if c.failed() {
		return
	}
	shape := []int{x.Shape[0] * a.Block[0] * a.Block[1], x.Shape[1], 0, 0}
	for i, b := range a.Block {
		padded := x.Shape[2+i] + both[i]
		if padded%b != 0 {
			c.fail("block_shape", "it divides the padded rows and columns",
				"%d does not divide axis %d of x%v, padded to %d",
				b, 2+i, x.Shape, padded)
			return
		}
		shape[2+i] = padded / b
	}
	c.attrs = a
	c.gives(x.DType, shape)
}

func inferBatchToSpace(c *Call) {
	x := c.tensor("x")
	a, both := c.borders("crops")
	if c.failed() {
		return
	}
	if x.Shape[0]%(a.Block[0]*a.Block[1]) != 0 {
		c.fail("block_shape", "its product divides the batch", "blocks of %d x %d of x%v", a.Block[0], a.Block[1],
			x.Shape)
		return
	}
	shape := []int{x.Shape[0] / (a.Block[0] * a.Block[1]), x.Shape[1], 0, 0}
	for i, b := range a.Block {
		if shape[2+i] = x.Shape[2+i]*b - both[i]; shape[2+i] < 1 {
			c.fail("crops", "one element stays", "%d of %d elements on axis %d", both[i], x.Shape[2+i]*b, 2+i)
			return
		}
	}
	c.attrs = a
	c.gives(x.DType, shape)
}

func inferStack(c *Call) {
	values := c.args["values"].values
	first := values[0]
	c.needs("values", storable...)
	axis := c.axis("axis", first.Rank()+1, 0)
	for _, v := range values {
		if v.DType != first.DType || !slices.Equal(v.Shape, first.Shape) {
			c.fail("values", "stacked tensors have one type and shape", "%s %s does not fit %s", v.Name, v.Type(),
				first.Type())
			return
		}
	}
	if c.failed() {
		return
	}
	c.attrs = Join{Axis: axis}
	c.gives(first.DType, slices.Insert(slices.Clone(first.Shape), axis, len(values)))
}

func inferReverseSequence(c *Call) {
	x, lengths := c.tensor("x"), c.tensor("lengths")
	c.needs("x", storable...)
	c.needs("lengths", indexes...)
	a := Sequence{Axis: c.axis("seq_axis", x.Rank(), 0), Batch: c.axis("batch_axis", x.Rank(), 0)}
	if c.failed() {
		return
	}
	if !slices.Equal(lengths.Shape, []int{x.Shape[a.Batch]}) {
		c.fail("lengths", "give one length for each element of batch_axis", "shape %v for axis %d of x%v",
			lengths.Shape,
			a.Batch, x.Shape)
		return
	}
	c.cpu()
	c.attrs = a
	c.gives(x.DType, x.Shape)
}

// indexes are the types of indices and lengths that are computed.
var indexes = []mil.DType{mil.Int32, mil.Int16, mil.UInt16, mil.Int8, mil.UInt8}
