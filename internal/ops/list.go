package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// lists hold tensors of one type. A list is a tensor with an axis for its length before those of an element, so its
// length is known and does not grow: an index beyond it is a fault of the evaluation. Attrs of make_list is a Fill, of
// list_read and list_gather a Gather, of list_write and list_scatter a Scatter, of list_length nil.
var lists = []*Def{
	{Name: "make_list", support: onHosts, infer: inferMakeList, Params: []*Param{
		integer("init_length").or(1).sized(), boolean("dynamic_length").or(true),
		setting("elem_shape", Ints).sized().variadic().loosely(), types("dtype", storable...).or("fp32")}},
	{Name: "list_length", support: onHosts, Params: []*Param{aList}, infer: func(c *Call, ls *Value) {
		c.refuseIf(!ls.listed, "ls", "make one with make_list", "no list")
		c.gives(nil, mil.Int32, nil)
		c.Out[0].Data = encodeInts(mil.Int32, []int64{int64(ls.Shape[0])})
	}},
	{Name: "list_read", support: onHosts, Params: []*Param{aList, tensor("index", mil.Int32)},
		infer: func(c *Call, ls *Value) {
			shape := c.elementShape(ls)
			c.single("index")
			c.gives(Gather{Validate: true}, ls.DType, shape)
		}},
	{Name: "list_gather", support: onHosts, Params: []*Param{aList, tensor("indices", mil.Int32)},
		infer: func(c *Call, ls *Value) {
			c.gives(Gather{Validate: true}, ls.DType, slices.Concat(c.vector(), c.elementShape(ls)))
		}},
	{Name: "list_write", support: onHosts, Params: []*Param{aList, tensor("index", mil.Int32), tensor("value")},
		infer: func(c *Call, ls *Value) {
			c.single("index")
			c.written(ls, c.Value("value").Shape)
		}},
	{Name: "list_scatter", support: onHosts, Params: []*Param{aList, tensor("indices", mil.Int32), tensor("value")},
		infer: func(c *Call, ls *Value) {
			n, shape := c.vector()[0], c.Value("value").Shape
			c.refuseIf(len(shape) == 0 || shape[0] != n, "value", "give an element for each index", "shape %v for %d indices",
				shape, n)
			c.written(ls, shape[1:])
		}},
}

var (
	aList   = tensor("ls").deep().any()
	onHosts = like("no surface holds a list", "use a tensor with slice_update, or stack the values")
)

// openAxis is the length of an axis of a list until a write says it. No other value has it.
const openAxis = -1

// inferMakeList takes whole numbers and names as the shape of an element: a name stands for a length that the first
// write says.
func inferMakeList(c *Call, _ *Value) {
	d := mil.ParseDType(c.word("dtype"))
	shape := []int{c.integer("init_length")}
	for _, v := range c.List("elem_shape") {
		switch {
		case v.Text != nil:
			shape = append(shape, slices.Repeat([]int{openAxis}, len(v.Text))...)
		case !v.DType.Integer():
			c.refuse("elem_shape", "give whole numbers", "%v", v.Type())
		default:
			for _, n := range v.Floats() {
				c.refuseIf(n < 1, "elem_shape", "every axis is at least 1", "length %v", n)
				shape = append(shape, int(n))
			}
		}
	}
	least := slices.Clone(shape)
	for i, n := range least {
		least[i] = max(n, min(i, 1)) // not the length of the list
	}
	c.gives(Fill{make([]byte, d.Size())}, d, least)
	c.Out[0].Shape, c.Out[0].listed = shape, true
}

// elementShape returns the shape of the elements of a list.
func (c *Call) elementShape(ls *Value) []int {
	c.refuseIf(!ls.listed, "ls", "make one with make_list", "no list")
	c.refuseIf(slices.Contains(ls.Shape, openAxis), "ls", "give elem_shape whole numbers",
		"the shape of an element does not follow from a write before")
	return slices.Clone(ls.Shape[1:])
}

// vector returns the shape of indices.
func (c *Call) vector() []int {
	at := c.Value("indices")
	c.refuseIf(at.Rank() != 1, "indices", "give a vector", "shape %v", at.Shape)
	return slices.Clone(at.Shape)
}

// single refuses an index that is not one number.
func (c *Call) single(name string) {
	v := c.Value(name)
	c.refuseIf(v.Rank() != 0, name, "give a scalar", "shape %v", v.Shape)
}

// written adds the list with elements of a shape replaced.
func (c *Call) written(ls *Value, shape []int) {
	c.refuseIf(!ls.listed, "ls", "make one with make_list", "no list")
	v := c.Value("value")
	ls.agree(append([]int{0}, shape...))
	c.refuseIf(ls.DType != v.DType || !slices.Equal(ls.Shape[1:], shape), "value", "write elements of the list's type",
		"shape %v of %v in %v", shape, v.DType, ls.Type())
	c.gives(Scatter{Mode: ScatterUpdate, Validate: true}, ls.DType, slices.Clone(ls.Shape))
	c.Out[0].listed = true
}

// agree gives the open axes of a list, and of the list that it comes from, the lengths of a shape.
func (v *Value) agree(shape []int) {
	for ; v != nil && v.listed && len(v.Shape) == len(shape); v = v.from {
		for i, n := range v.Shape {
			if i > 0 && n == openAxis {
				v.Shape[i] = shape[i]
			}
		}
	}
}

// list is the type of a list in the text.
func (v *Value) list() mil.Type {
	element := mil.TensorOf(v.DType, v.Shape[1:]...)
	for i, n := range v.Shape[1:] {
		if n == openAxis {
			element.Dims[i] = mil.Dim{Symbol: "?"}
		}
	}
	return mil.Type{Kind: mil.List, Dims: []mil.Dim{{Size: v.Shape[0]}}, Elems: []mil.Type{element}}
}
