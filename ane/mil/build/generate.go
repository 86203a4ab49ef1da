package build

import "github.com/anekit/anekit/ane/mil"

// Fill returns a tensor of type d with x in every element.
func (f *Func) Fill(d mil.DType, x float64, shape ...int) Value {
	return f.plain("fill", shape, element{d, x})
}

// FillLike returns a tensor of type d and the shape of ref with x in every element.
func (f *Func) FillLike(d mil.DType, x float64, ref Value) Value {
	return f.plain("fill_like", ref, element{d, x})
}

// Range1d counts from start up to, not including, end. d is fp16, fp32 or int32.
func (f *Func) Range1d(d mil.DType, start, end, step float64) Value {
	return f.plain("range_1d", element{d, end}, element{d, start}, element{d, step})
}

// OneHot adds an axis of size elements of type d: on where the index is the position, off elsewhere. axis is its
// index in the result.
func (f *Func) OneHot(d mil.DType, indices Value, size, axis int, on, off float64) Value {
	return f.plain("one_hot", indices, size, axis, element{d, on}, element{d, off})
}

// Exclusive leaves each element out of its own sum.
type Exclusive bool

// Backward adds from the end of the axis.
type Backward bool

func (e Exclusive) set(c *call) { c.put("exclusive", bool(e)) }
func (b Backward) set(c *call)  { c.put("reverse", bool(b)) }

// Cumsum returns the sums of x up to each element along axis.
func (f *Func) Cumsum(x Value, axis int, options ...Optional) Value {
	return f.plain("cumsum", x, axis, options)
}

// Random numbers. A seed of 0 or more gives the same numbers in every evaluation; -1 gives new ones in each evaluation
// after a load. d is fp16 or fp32.

// RandomUniform returns numbers from low up to, not including, high.
func (f *Func) RandomUniform(d mil.DType, low, high float64, seed int, shape ...int) Value {
	return f.plain("random_uniform", shape, element{d, low}, element{d, high}, seed)
}

// RandomNormal returns numbers of a normal distribution.
func (f *Func) RandomNormal(d mil.DType, mean, stddev float64, seed int, shape ...int) Value {
	return f.plain("random_normal", shape, element{d, mean}, element{d, stddev}, seed)
}

// RandomBernoulli returns 1 with probability prob, else 0.
func (f *Func) RandomBernoulli(d mil.DType, prob float64, seed int, shape ...int) Value {
	return f.plain("random_bernoulli", shape, element{d, prob}, seed)
}

// RandomCategorical draws size classes from each distribution along the last axis of x: logarithms of probabilities,
// or with probs the probabilities.
func (f *Func) RandomCategorical(x Value, size int, probs bool, seed int) Value {
	mode := "logits"
	if probs {
		mode = "probs"
	}
	return f.plain("random_categorical", x, mode, size, seed)
}
