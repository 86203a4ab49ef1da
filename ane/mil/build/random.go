package build

import "github.com/anekit/anekit/ane/mil"

// Random numbers. A seed of 0 or more gives the same numbers in every evaluation; -1 gives new ones in each evaluation
// after a load. d is fp16 or fp32.

// RandomUniform returns numbers from low up to, not including, high.
func (f *Func) RandomUniform(d mil.DType, low, high float64, seed int, shape ...int) Value {
	return f.call("random_uniform").ints("shape", shape).element("low", d, low).element("high", d, high).
		int("seed", seed).one()
}

// RandomNormal returns numbers of a normal distribution.
func (f *Func) RandomNormal(d mil.DType, mean, stddev float64, seed int, shape ...int) Value {
	return f.call("random_normal").ints("shape", shape).element("mean", d, mean).element("stddev", d, stddev).
		int("seed", seed).one()
}

// RandomBernoulli returns 1 with probability prob, else 0.
func (f *Func) RandomBernoulli(d mil.DType, prob float64, seed int, shape ...int) Value {
	return f.call("random_bernoulli").ints("shape", shape).element("prob", d, prob).int("seed", seed).one()
}

// RandomCategorical draws size classes from each distribution along the last axis of x: logarithms of probabilities,
// or with probs the probabilities.
func (f *Func) RandomCategorical(x Value, size int, probs bool, seed int) Value {
	mode := "logits"
	if probs {
		mode = "probs"
	}
	return f.call("random_categorical").value("x", x).word("mode", mode).int("size", size).int("seed", seed).one()
}
