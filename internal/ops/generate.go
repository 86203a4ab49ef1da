package ops

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// generators make tensors from settings, shapes and indices. Attrs is a Fill for fill and fill_like, a Range for
// range_1d, a Band for band_part, a OneHot for one_hot, a Scan for cumsum. The results of shape and non_zero have Data.
//
// The random ones fill tensors with random numbers. Attrs is a Random. A seed of 0 or more gives the same numbers in
// every evaluation. -1, the default, gives new numbers in each evaluation after a load, and repeats them after the next
// load.
var generators = []*Def{
	{Name: "shape", support: like("Core ML runs int32 on the CPU", onHost), infer: inferShape, Params: []*Param{
		tensor("x").like().ranks(1, MaxRank, "a scalar has no axes; reshape it", "the shape of a scalar is empty")},
		Doc: "returns the axis lengths of x, an int32 vector. The compiler knows it: it may stand where a setting is " +
			"needed"},
	{Name: "fill", Params: []*Param{integers("shape").sized(), setting("value", Element).or(0.0)},
		infer: func(c *Call, _ *Value) { c.filled(c.ints("shape", -1)) }},
	{Name: "fill_like", Params: []*Param{tensor("ref_tensor").like(), setting("value", Element).or(0.0)},
		infer: func(c *Call, x *Value) { c.filled(x.Shape) }},
	{Name: "range_1d", infer: inferRange, Params: []*Param{setting("end", Element).sized(),
		setting("start", Element).sized(), setting("step", Element).sized()},
		support: support{memory: untried, cpu: true, instead: onHost, inferred: "Core ML runs it on the CPU"}},
	{Name: "band_part", support: nowhere("multiply by a constant mask"),
		Params: []*Param{tensor("x", storable...).ranks(2, MaxRank, "give a matrix", "shape %v has no rows and columns"),
			integer("lower").or(-1), integer("upper").or(-1)}, infer: func(c *Call, x *Value) {
			c.gives(Band{Lower: c.integer("lower"), Upper: c.integer("upper")}, x.DType, x.Shape)
		},
		Doc: "keeps lower diagonals below the main one and upper above it, of each matrix, and clears the others. A " +
			"negative number keeps all"},
	{Name: "one_hot", support: nowhere(gathered), infer: inferOneHot, Params: []*Param{tensor("indices", indexes...),
		integer("one_hot_vector_size").sized(), integer("axis").or(-1), setting("on_value", Element).or(1.0),
		setting("off_value", Element).or(0.0)}},
	{Name: "cumsum", support: nowhere("multiply by a triangular matrix"),
		Params: []*Param{tensor("x", numerics...), integer("axis").or(0), boolean("exclusive").or(false),
			boolean("reverse").or(false)}, infer: func(c *Call, x *Value) {
			c.gives(Scan{Axis: c.axis("axis", x.Rank()), Exclusive: c.boolean("exclusive"), Reverse: c.boolean("reverse")},
				x.DType, x.Shape)
		}},
	{Name: "non_zero", support: nowhere(gathered), infer: inferNonZero, Params: []*Param{tensor("x",
		storable...).ranks(1, MaxRank, "a scalar has no axes; reshape it", "the index of a scalar is empty")},
		Doc: "returns the indices of the elements of a constant that are not zero, one in each row"},
	random("random_uniform", number("low").or(0.0), number("high").or(1.0)),
	random("random_normal", number("mean").or(0.0), number("stddev").or(1.0)),
	random("random_bernoulli", number("prob").or(0.5)),
	{Name: "random_categorical", support: nowhere(drawn), infer: inferCategorical, Params: []*Param{
		tensor("x", floats...).ranks(1, MaxRank, "give a vector of probabilities", "a scalar has no classes"),
		word("mode", "logits", "probs").or("logits"), integer("size").or(1).sized(),
		integer("seed").or(-1)}},
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
	c.gives(nil, d, shape)
	c.Out[0].Data = data
}

func inferShape(c *Call, x *Value) {
	lengths := make([]int64, x.Rank())
	for i, n := range x.Shape {
		lengths[i] = int64(n)
		c.refuseIf(n > math.MaxInt32, "x", "split the axis", "the length %d of an axis does not fit in int32", n)
	}
	c.constant(mil.Int32, []int{len(lengths)}, encodeInts(mil.Int32, lengths))
}

// element returns the bytes of a setting of one element, or those of its default as type d.
func (c *Call) element(name string, d mil.DType) (mil.DType, []byte) {
	v := c.Value(name)
	switch {
	case v == nil:
		return d, encode(d, []float64{asNumber(c.preset(name))}, same)
	case v.Elements() != 1:
		c.refuse(name, "give a single value", "%s has %d elements", v.Type(), v.Elements())
	case !slices.Contains(storable, v.DType):
		c.refuse(name, "use fp16, fp32, bool or an integer type up to 32 bits", "%s is not handled", v.Type())
	}
	v.take()
	return v.DType, slices.Clone(v.Data)
}

func (c *Call) filled(shape []int) {
	d, e := c.element("value", mil.FP32)
	c.gives(Fill{e}, d, shape)
}

func inferRange(c *Call, x *Value) {
	var at [3]float64
	d := c.Value("start").DType
	for i, name := range []string{"start", "end", "step"} {
		v := c.Value(name)
		c.refuseIf(v.DType != d || !slices.Contains(numerics, d) || v.Elements() != 1, name,
			"give three single numbers of one type: fp16, fp32 or int32", "%s does not fit", v.Type())
		at[i] = c.scalar(name)
	}
	n := math.Ceil((at[1] - at[0]) / at[2])
	c.refuseIf(!(n >= 1 && n <= MaxElements), "end", "ranges have 1 to 2^31 elements",
		"%v numbers from %v to %v by %v", n, at[0], at[1], at[2])
	c.gives(Range{Start: at[0], Step: at[2]}, d, []int{int(n)})
}

func inferOneHot(c *Call, x *Value) {
	a := OneHot{Axis: c.axis("axis", x.Rank()+1)}
	n := c.integer("one_hot_vector_size")
	d := mil.Int32 // without values; one value gives its type to the other
	for _, name := range []string{"off_value", "on_value"} {
		if v := c.Value(name); v != nil && slices.Contains(storable, v.DType) {
			d = v.DType
		}
	}
	var on, off mil.DType
	on, a.On = c.element("on_value", d)
	off, a.Off = c.element("off_value", d)
	c.refuseIf(on != off, "off_value", "give both one type", "off_value is %s but on_value is %s", off, on)
	c.refuseIf(n < 1 || n > MaxElements, "one_hot_vector_size", "choose from 1 to 2^31", "%d", n)
	c.gives(a, on, slices.Insert(slices.Clone(x.Shape), a.Axis, n))
}

// inferNonZero computes the result: its shape depends on the elements of x.
func inferNonZero(c *Call, x *Value) {
	x.settle()
	switch {
	case x.Data == nil:
		c.refuse("x", "give a constant, or compute a mask with not_equal",
			"the shape of the result depends on values; engines need static shapes")
	case x.Elements() > maxListed:
		c.refuse("x", "give a smaller constant", "%d elements; constants of at most %d are listed", x.Elements(),
			maxListed)
	}
	strides := Strides(x.Shape)
	var found []int64
	for i, f := range x.take() {
		if f == 0 {
			continue
		}
		for a, s := range strides {
			found = append(found, int64(i/s%x.Shape[a]))
		}
	}
	c.refuseIf(found == nil, "x", "give a constant with an element that is not zero",
		"all elements are zero: the result is empty")
	c.constant(mil.Int32, []int{len(found) / x.Rank(), x.Rank()}, encodeInts(mil.Int32, found))
}

// maxListed is the largest constant whose elements non_zero lists.
const maxListed = 1 << 22

// scalar returns a single number of any numeric type, or a truth value as 0 or 1.
func (c *Call) scalar(name string) float64 {
	switch v := c.Value(name); {
	case v != nil && v.DType.Integer():
		return float64(c.integer(name))
	case v != nil && v.DType == mil.Bool:
		return c.elements(name, Bool, 1)[0]
	}
	return c.number(name)
}

// Random holds the settings of the random operators.
type Random struct {
	A, B  float64 // low and high, mean and stddev, or prob
	Seed  int     // -1: another in each evaluation
	Probs bool    // x of random_categorical has probabilities instead of their logarithms
}

// random is an operator with one or two numbers, which give the result their type.
func random(name string, numbers ...*Param) *Def {
	params := append(append([]*Param{integers("shape").sized()}, numbers...), integer("seed").or(-1))
	return &Def{Name: name, support: nowhere(drawn), Params: params, infer: func(c *Call, x *Value) {
		d, r := mil.FP32, Random{Seed: c.seed()}
		for i, p := range slices.Backward(numbers) {
			if v := c.Value(p.Name); v != nil {
				c.needs(p.Name, floats...)
				d = v.DType
			}
			c.sameType(numbers[0].Name, p.Name)
			*[]*float64{&r.A, &r.B}[i] = c.number(p.Name)
		}
		c.gives(r, d, c.ints("shape", -1))
	}}
}

// seed returns the seed, -1 for any negative one.
func (c *Call) seed() int { return max(c.integer("seed"), -1) }

func inferCategorical(c *Call, x *Value) {
	n := c.integer("size")
	r := Random{Seed: c.seed(), Probs: c.word("mode") == "probs"}
	c.refuseIf(n < 1 || n > MaxElements, "size", "draw at least one", "%d", n)
	c.gives(r, x.DType, with(x.Shape, x.Rank()-1, n))
}
