package ops

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// generators make tensors from settings, shapes and indices. Attrs is a Fill for fill and fill_like, a Range for
// range_1d, a Band for band_part, a OneHot for one_hot, a Scan for cumsum; the results of shape and non_zero have Data.
var generators = []Def{
	{Name: "shape", support: nowhere(onHost), Params: []Param{like("x")}, infer: inferShape},
	{Name: "fill", Params: []Param{sized("shape"), option("value")}, infer: func(c *Call) {
		c.filled(c.shape("shape"))
	}},
	{Name: "fill_like", Params: []Param{like("ref_tensor"), option("value")}, infer: func(c *Call) {
		c.filled(c.tensor("ref_tensor").Shape)
	}},
	{Name: "range_1d", support: nowhere(onHost),
		Params: []Param{sized("end"), sized("start"), sized("step")}, infer: inferRange},
	{Name: "band_part", support: nowhere("multiply by a constant mask"),
		Params: []Param{tensor("x"), option("lower"), option("upper")}, infer: inferBand},
	{Name: "one_hot", support: nowhere(gathered),
		Params: []Param{tensor("indices"), sized("one_hot_vector_size"), option("axis"),
			option("on_value"), option("off_value")}, infer: inferOneHot},
	{Name: "cumsum", support: nowhere("multiply by a triangular matrix"),
		Params: []Param{tensor("x"), option("axis"), option("exclusive"), option("reverse")},
		infer:  inferCumsum},
	{Name: "non_zero", support: nowhere(gathered), Params: []Param{tensor("x")}, infer: inferNonZero},
}

// Fill holds the bytes of the element that fills a tensor.
type Fill struct{ Element []byte }

// Range holds the settings of range_1d: element i is Start + i*Step.
type Range struct{ Start, Step float64 }

// Band holds the settings of band_part: the diagonals that stay, all where negative.
type Band struct{ Lower, Upper int }

// OneHot holds the settings of one_hot. Axis is the axis of the result.
type OneHot struct {
	Axis    int
	On, Off []byte // elements
}

// Scan holds the settings of cumsum.
type Scan struct {
	Axis               int
	Exclusive, Reverse bool
}

// constant gives a result that is known when compiling.
func (c *Call) constant(d mil.DType, shape []int, data []byte) {
	if c.gives(d, shape); !c.failed() {
		c.out[0].Data, c.out[0].made = data, true
	}
}

func inferShape(c *Call) {
	x := c.tensor("x")
	if x.Rank() == 0 {
		c.fail("x", "a scalar has no axes; reshape it", "the shape of a scalar is empty")
		return
	}
	lengths := make([]int64, x.Rank())
	for i, n := range x.Shape {
		if lengths[i] = int64(n); n > math.MaxInt32 {
			c.fail("x", "split the axis", "the length %d of an axis does not fit in int32", n)
			return
		}
	}
	c.constant(mil.Int32, []int{len(lengths)}, encodeInts(mil.Int32, lengths))
}

// shape returns a setting that is the shape of the result.
func (c *Call) shape(name string) []int {
	return slices.Clone(c.ints(name, -1, nil)) // gives checks it
}

// element returns the bytes of a setting of one element, or those of def as type d.
func (c *Call) element(name string, d mil.DType, def float64) (mil.DType, []byte) {
	v := c.tensor(name)
	switch {
	case v == nil:
		if d.Float() {
			return d, encodeFloats(d, []float64{def})
		}
		return d, encodeInts(d, []int64{int64(def)})
	case v.Elements() != 1:
		c.fail(name, "give a single value", "%s has %d elements", v.Type(), v.Elements())
	case !slices.Contains(storable, v.DType):
		c.fail(name, "use fp16, fp32, bool or an integer type up to 32 bits", "%s is not handled", v.Type())
	}
	if c.failed() {
		return d, make([]byte, d.Size())
	}
	v.weight.take(v)
	return v.DType, slices.Clone(v.Data)
}

func (c *Call) filled(shape []int) {
	d, e := c.element("value", mil.FP32, 0)
	c.attrs = Fill{e}
	c.gives(d, shape)
}

func inferRange(c *Call) {
	var at [3]float64
	d := c.tensor("start").DType
	for i, name := range []string{"start", "end", "step"} {
		if v := c.tensor(name); v.DType != d || !slices.Contains(numerics, d) || v.Elements() != 1 {
			c.fail(name, "give three single numbers of one type: fp16, fp32 or int32", "%s does not fit", v.Type())
			return
		}
		at[i] = c.scalar(name, 0)
	}
	if c.failed() {
		return
	}
	n := math.Ceil((at[1] - at[0]) / at[2])
	if !(n >= 1 && n <= MaxElements) {
		c.fail("end", "ranges have 1 to 2^31 elements", "%v numbers from %v to %v by %v", n, at[0], at[1], at[2])
		return
	}
	c.cpu()
	c.attrs = Range{Start: at[0], Step: at[2]}
	c.gives(d, []int{int(n)})
}

func inferBand(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	if x.Rank() < 2 {
		c.fail("x", "give a matrix", "shape %v has no rows and columns", x.Shape)
	}
	c.attrs = Band{Lower: c.integer("lower", -1), Upper: c.integer("upper", -1)}
	c.cpu()
	c.gives(x.DType, x.Shape)
}

func inferOneHot(c *Call) {
	x := c.tensor("indices")
	c.needs("indices", indexes...)
	a := OneHot{Axis: c.axis("axis", x.Rank()+1, -1)}
	n := c.integer("one_hot_vector_size", 1)
	d := mil.Int32 // without values; one value gives its type to the other
	for _, name := range []string{"off_value", "on_value"} {
		if v := c.tensor(name); v != nil && slices.Contains(storable, v.DType) {
			d = v.DType
		}
	}
	var on, off mil.DType
	on, a.On = c.element("on_value", d, 1)
	off, a.Off = c.element("off_value", d, 0)
	if on != off && !c.failed() {
		c.fail("off_value", "give both one type", "off_value is %s but on_value is %s", off, on)
	}
	if n < 1 || n > MaxElements {
		c.fail("one_hot_vector_size", "choose from 1 to 2^31", "%d", n)
	}
	if c.failed() {
		return
	}
	c.cpu()
	c.attrs = a
	c.gives(on, slices.Insert(slices.Clone(x.Shape), a.Axis, n))
}

func inferCumsum(c *Call) {
	x := c.tensor("x")
	c.needs("x", numerics...)
	c.attrs = Scan{Axis: c.axis("axis", x.Rank(), 0), Exclusive: c.boolean("exclusive", false),
		Reverse: c.boolean("reverse", false)}
	c.cpu()
	c.gives(x.DType, x.Shape)
}

// inferNonZero computes the result: its shape depends on the elements of x.
func inferNonZero(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	switch {
	case c.failed():
		return
	case x.Data == nil:
		c.fail("x", "give a constant, or compute a mask with not_equal", "the shape of the result depends on values; "+
			"engines need static shapes")
		return
	case x.Rank() == 0:
		c.fail("x", "a scalar has no axes; reshape it", "the index of a scalar is empty")
		return
	case x.Elements() > maxListed:
		c.fail("x", "give a smaller constant", "%d elements; constants of at most %d are listed", x.Elements(),
			maxListed)
		return
	}
	x.weight.take(x)
	strides := Strides(x.Shape)
	var found []int64
	for i, f := range x.Floats() {
		if f == 0 {
			continue
		}
		for a, s := range strides {
			found = append(found, int64(i/s%x.Shape[a]))
		}
	}
	if found == nil {
		c.fail("x", "give a constant with an element that is not zero", "all elements are zero: the result is empty")
		return
	}
	c.cpu()
	c.constant(mil.Int32, []int{len(found) / x.Rank(), x.Rank()}, encodeInts(mil.Int32, found))
}

// maxListed is the largest constant whose elements non_zero lists.
const maxListed = 1 << 22
