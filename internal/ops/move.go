package ops

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// moves copy elements of x to other places, bit by bit. Attrs is a Box; of concat and stack a Join; of split an int,
// the axis; of space_to_batch and batch_to_space a Blocks; of reverse_sequence a Sequence.
var moves = []*Def{
	{Name: "concat", infer: inferConcat, Params: []*Param{tensor("values", storable...).variadic(), integer("axis"),
		boolean("interleave").or(false)}},
	{Name: "stack", support: support{contested: "reshape and concat run on other machines"}, infer: inferStack,
		Params: []*Param{tensor("values", storable...).variadic(), integer("axis")}},
	{Name: "split", infer: inferSplit, Params: []*Param{tensor("x", storable...),
		integer("num_splits").optional(), integers("split_sizes").optional(), integer("axis").or(0)}},
	move("tile", inferTile, "repeats x: axis i reps[i] times", integers("reps").sized()).limited(tileLimits),
	{Name: "reverse", Params: []*Param{tensor("x", storable...), integers("axes").or(AllAxes)}, infer: inferReverse},
	{Name: "reverse_sequence", support: like(placed, onHost), Params: []*Param{tensor("x", storable...),
		tensor("lengths", indexes...), integer("seq_axis").or(0), integer("batch_axis").or(0)}, infer: func(c *Call, x *Value) {
		a := Sequence{Axis: c.axis("seq_axis", x.Rank()), Batch: c.axis("batch_axis", x.Rank())}
		c.shaped("lengths", []int{x.Shape[a.Batch]}, "give one length for each element of batch_axis",
			"shape %v for axis %d of x%v", a.Batch, x.Shape)
		c.gives(a, x.DType, x.Shape)
	},
		Doc: "reverses the first lengths[i] elements along seqAxis of the part of x that has index i on batchAxis. " +
			"lengths is an integer vector"},
	{Name: "crop", infer: inferCrop, Params: []*Param{tensor("x", storable...).ranks(2, MaxRank, "use [N, C, H, W]",
		"shape %v has no rows and columns"), integers("crop_height"), integers("crop_width")}},
	move("sliding_windows", inferSlidingWindows, "returns all windows of size elements along axis, stride elements "+
		"apart. The result has the axes window and position in place of axis", integer("axis"), integer("size").sized(),
		integer("stride").or(1)).nowhere("unfold with slices"),
	blocked("depth_to_space", integer("block_size"), toSpace(0, 3, 4, 1, 5, 2), "moves channels to rows and columns of "+
		"blocks: channel (row*blockSize+column)*C+c becomes channel c of C at (row, column) in its block"),
	blocked("space_to_depth", integer("block_size"), toDepth(0, 3, 5, 1, 2, 4), "is the inverse of DepthToSpace"),
	blocked("pixel_shuffle", integer("upscale_factor"), toSpace(0, 1, 4, 2, 5, 3), "moves channels to rows and columns "+
		"of blocks: channel (c*factor+row)*factor+column becomes channel c at (row, column) in its block, where factor "+
		"is upscaleFactor"),
	blocked("pixel_unshuffle", integer("downscale_factor").of(mil.UInt32), toDepth(0, 1, 3, 5, 2, 4),
		"is the inverse of PixelShuffle"),
	{Name: "space_to_batch", support: support{bridge: true}, infer: inferSpaceToBatch,
		Params: []*Param{image, integers("block_shape"), integers("paddings")}},
	{Name: "batch_to_space", support: support{bridge: true}, infer: inferBatchToSpace,
		Params: []*Param{image, integers("block_shape"), integers("crops")}},
}

// move is an operator on one tensor with settings.
func move(name string, infer func(*Call, *Value), doc string, settings ...*Param) *Def {
	return &Def{Name: name, Doc: doc, infer: infer, Params: append([]*Param{tensor("x", storable...)}, settings...)}
}

var image = tensor("x", storable...).ranks(4, 4, "use [N, C, H, W]", "shape %v")

// blocked is an operator on an image with blocks of a size.
func blocked(name string, size *Param, infer func(*Call, *Value), doc string) *Def {
	return &Def{Name: name, Doc: doc, infer: infer, Params: []*Param{image, size}}
}

// Join holds the settings of concat and stack.
type Join struct {
	Axis       int
	Interleave bool // take one slice of each operand in turn
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

// with returns a shape with another length of an axis.
func with(shape []int, axis, length int) []int {
	shape = slices.Clone(shape)
	shape[axis] = length
	return shape
}

func inferTile(c *Call, x *Value) {
	reps := c.ints("reps", x.Rank())
	var b Box
	shape := slices.Clone(x.Shape)
	strides := Strides(x.Shape)
	for i, n := range reps {
		// Converters of torch write -1 / length for an axis that expand keeps.
		if v := c.Value("reps"); (n == 0 || n == -1) && v.Made != nil {
			c.note(fmt.Sprintf("%d computed repetitions of axis %d of x%v are taken as one", n, i, x.Shape))
			n = 1
		}
		c.refuseIf(n < 1 || n > MaxElements, "reps", "repeat every axis at least once", "%d times axis %d of x%v", n,
			i, x.Shape)
		shape[i] *= n
		b.Dims, b.Stride = append(b.Dims, n, x.Shape[i]), append(b.Stride, 0, strides[i])
	}
	c.gives(b, x.DType, shape)
}

func inferReverse(c *Call, x *Value) {
	axes := c.axes("axes", x.Rank())
	b := Box{Dims: x.Shape, Stride: Strides(x.Shape)}
	for _, a := range axes {
		b.Base += (x.Shape[a] - 1) * b.Stride[a]
		b.Stride[a] *= -1
	}
	c.gives(b, x.DType, x.Shape)
}

func inferCrop(c *Call, x *Value) {
	n := x.Rank()
	b := Box{Dims: slices.Clone(x.Shape), Stride: Strides(x.Shape)}
	for i, name := range []string{"crop_height", "crop_width"} {
		axis, cut := n-2+i, c.ints(name, 2)
		length := x.Shape[axis]
		c.refuseIf(min(cut[0], cut[1]) < 0 || max(cut[0], cut[1]) >= length || cut[0]+cut[1] >= length, name,
			"counts are at least 0, and one element stays", "%v of axis %d of x%v", cut, axis, x.Shape)
		b.Dims[axis] -= cut[0] + cut[1]
		b.Base += cut[0] * b.Stride[axis]
	}
	c.gives(b, x.DType, b.Dims)
}

func inferSlidingWindows(c *Call, x *Value) {
	axis := c.axis("axis", x.Rank())
	size, step := c.integer("size"), c.integer("stride")
	length := x.Shape[axis]
	c.refuseIf(size < 1 || size > length, "size", "choose from 1 to the length of the axis",
		"windows of %d on axis %d of x%v", size, axis, x.Shape)
	c.refuseIf(step < 1 || step > MaxElements, "stride", "strides are at least 1 and below 2^31", "%d", step)
	strides := Strides(x.Shape)
	b := Box{Dims: slices.Insert(slices.Clone(x.Shape), axis, (length-size)/step+1)}
	b.Dims[axis+1] = size
	b.Stride = slices.Insert(slices.Clone(strides), axis, strides[axis]*step)
	c.gives(b, x.DType, b.Dims)
}

// block returns the size of blocks and the name of its setting.
func (c *Call) block() (size int, name string) {
	name = c.Def.Params[1].Name
	size = c.integer(name)
	c.refuseIf(size < 1 || size > maxSetting, name, "choose from 1 to 65536", "%d", size)
	return size, name
}

// toSpace moves channels to blocks of rows and columns. It splits the channels of x into those that stay, rows and
// columns, and the rows and columns of the result by block. perm has the axes of the result in x.
func toSpace(perm ...int) func(c *Call, x *Value) {
	return func(c *Call, x *Value) {
		block, name := c.block()
		n, ch, h, w := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
		c.refuseIf(ch%(block*block) != 0, name, "the square of it divides the channels",
			"%d channels of x%v with blocks of %d", ch, x.Shape, block)
		split := []int{n, block, block, block, h, w}
		split[perm[1]] = ch / (block * block)
		c.gives(rearranged(split, perm), x.DType, []int{n, split[perm[1]], h * block, w * block})
	}
}

// toDepth is the inverse of toSpace. It splits the rows and columns of x by block, and the channels of the result. perm
// has the axes of the result in x.
func toDepth(perm ...int) func(c *Call, x *Value) {
	return func(c *Call, x *Value) {
		block, name := c.block()
		n, ch, h, w := x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]
		c.refuseIf(h%block != 0 || w%block != 0, name, "it divides rows and columns",
			"%d rows and %d columns of x%v with blocks of %d", h, w, x.Shape, block)
		c.gives(rearranged([]int{n, ch, h / block, block, w / block, block}, perm), x.DType,
			[]int{n, ch * block * block, h / block, w / block})
	}
}

// rearranged lists the elements of a shape with its axes in the order perm.
func rearranged(shape, perm []int) (b Box) {
	strides := Strides(shape)
	for _, axis := range perm {
		b.Dims, b.Stride = append(b.Dims, shape[axis]), append(b.Stride, strides[axis])
	}
	return b
}

// borders reads block_shape and a matrix of counts for rows and columns.
func (c *Call) borders(name string) (a Blocks, both [2]int) {
	block := c.ints("block_shape", 2)
	counts := c.elements(name, square, -1)
	v := c.Value(name)
	c.refuseIf(!slices.Equal(v.Shape, []int{2, 2}), name,
		"give a matrix of 2 x 2: before and after for rows and for columns", "%s does not fit", v.Type())
	for i := range 2 {
		before, after := counts[2*i], counts[2*i+1]
		c.refuseIf(min(before, after) < 0 || max(before, after) > maxSetting, name, "counts are from 0 to 65536",
			"%.0f and %.0f", before, after)
		c.refuseIf(block[i] < 1 || block[i] > maxSetting, "block_shape", "choose from 1 to 65536", "%v", block)
		a.Block[i], a.Before[i], both[i] = block[i], int(before), int(before+after)
	}
	return a, both
}

func inferSpaceToBatch(c *Call, x *Value) {
	a, both := c.borders("paddings")
	shape := []int{x.Shape[0] * a.Block[0] * a.Block[1], x.Shape[1], 0, 0}
	for i, b := range a.Block {
		padded := x.Shape[2+i] + both[i]
		c.refuseIf(padded%b != 0, "block_shape", "it divides the padded rows and columns",
			"%d does not divide axis %d of x%v, padded to %d", b, 2+i, x.Shape, padded)
		shape[2+i] = padded / b
	}
	c.gives(a, x.DType, shape)
}

func inferBatchToSpace(c *Call, x *Value) {
	a, both := c.borders("crops")
	c.refuseIf(x.Shape[0]%(a.Block[0]*a.Block[1]) != 0, "block_shape", "its product divides the batch",
		"blocks of %d x %d of x%v", a.Block[0], a.Block[1], x.Shape)
	shape := []int{x.Shape[0] / (a.Block[0] * a.Block[1]), x.Shape[1], 0, 0}
	for i, b := range a.Block {
		if shape[2+i] = x.Shape[2+i]*b - both[i]; shape[2+i] < 1 {
			c.refuse("crops", "one element stays", "%d of %d elements on axis %d", both[i], x.Shape[2+i]*b, 2+i)
		}
	}
	c.gives(a, x.DType, shape)
}

func inferStack(c *Call, first *Value) {
	values := c.List("values")
	axis := c.axis("axis", first.Rank()+1)
	for _, v := range values {
		c.refuseIf(v.DType != first.DType || !slices.Equal(v.Shape, first.Shape), "values",
			"stacked tensors have one type and shape", "%s %s does not fit %s", v.Name, v.Type(), first.Type())
	}
	c.gives(Join{Axis: axis}, first.DType, slices.Insert(slices.Clone(first.Shape), axis, len(values)))
}

func inferConcat(c *Call, first *Value) {
	values := c.List("values")
	if c.Op.Arg("interleave") == nil {
		c.note("in memory an M3 and an M4 refuse concat without interleave; write interleave = bool(false)")
	}
	unit := first.Shape // a scalar counts as a vector of one
	if first.Rank() == 0 {
		unit = []int{1}
	}
	a := Join{Axis: c.axis("axis", len(unit)), Interleave: c.boolean("interleave")}
	shape := with(unit, a.Axis, 0)
	for _, v := range values {
		fits := v.Rank() == first.Rank() && v.DType == first.DType
		if v.Rank() == 0 && fits {
			shape[0]++
			continue
		}
		for i := range v.Shape {
			fits = fits && (i == a.Axis || v.Shape[i] == first.Shape[i])
		}
		c.refuseIf(!fits || a.Interleave && v.Shape[a.Axis] != first.Shape[a.Axis], "values",
			"only the joined axis may differ, without interleave", "%s %s does not fit %s", v.Name, v.Type(),
			first.Type())
		shape[a.Axis] += v.Shape[a.Axis]
	}
	c.gives(a, first.DType, shape)
}

func inferSplit(c *Call, x *Value) {
	axis := c.axis("axis", x.Rank())
	sizes, length := c.ints("split_sizes", -1), x.Shape[axis]
	switch n, given := c.integer("num_splits"), c.Value("num_splits") != nil; {
	case sizes == nil && !given:
		c.refuse("", "give num_splits=2 for equal parts, or split_sizes",
			"num_splits and split_sizes are both missing for x%v", x.Shape)
	case sizes == nil:
		c.refuseIf(n < 1 || n > maxSetting || length%n != 0, "num_splits", "give split_sizes, or a divisor",
			"axis %d of x%v cannot be split into %d", axis, x.Shape, n)
		sizes = slices.Repeat([]int{length / n}, n)
	case given:
		c.refuseIf(n != len(sizes), "num_splits", "remove one of the two", "%d for %d sizes", n, len(sizes))
	}
	sum := 0
	for _, n := range sizes {
		c.refuseIf(n < 1 || n > length, "split_sizes", "sizes are at least 1 and add up to the axis",
			"%s of an axis of length %d", few(sizes), length)
		sum += n
	}
	c.refuseIf(sum != length, "split_sizes", "make the sizes add up to the axis",
		"%s add up to %d, axis %d of x%v has %d", few(sizes), sum, axis, x.Shape, length)
	for _, n := range sizes {
		c.gives(axis, x.DType, with(x.Shape, axis, n))
	}
}
