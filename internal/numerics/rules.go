package numerics

import (
	"math/bits"
	"strings"
)

// Rules is a set of properties in which a chip's arithmetic differs from Reference.
type Rules uint32

// The rules. MS, AG and AF are the sources named in the package comment.
const (
	// Exponent31 reads the exponent 31 as an ordinary one: infinity is 65536, 0x7E00 is 98304. No NaN
	// arises and -0 leaves as +0 (MS 8.4, M6; inferred for the others, explains AG's values of the M1).
	Exponent31 Rules = 1 << iota
	// HalfAway rounds results to fp16 half away from zero (MS 8.5 on M4 and M6, AF on M5, JW on M2).
	HalfAway
	// ReduceAway rounds reductions half away also where other results go to even (AF on M2 Pro).
	ReduceAway
	// ProductDropped makes a product 0 whose exponents add to -17 or less, whatever its significand
	// (MS table 8-2, M6; inferred for the others).
	ProductDropped
	// Range makes a sum infinite, for good, once its magnitude reaches 32768 (MS 8.2, AG, AF).
	Range
	// Fours rounds inside consecutive groups of four to 12 significant bits, from a magnitude of 4096 on (AG's sums on
	// the M1, reproduced: 18 of 18; below 4096 they are exact). Linear programs of the M1 err by 0.000207 to 0.000209
	// of their norm (JW): rounding below 4096 as well would give 0.000251.
	Fours
	// BiasLast adds the bias in fp16 after the sum, instead of starting the sum with it (AG on the M1).
	BiasLast
	// ProductRounding aligns each product to 2^-16, half away from zero (MS 8.2.1, M4 and M6).
	ProductRounding
	// Tables evaluates functions by tables of 33 knots (MS 8.6; the tables are reconstructed from its error
	// figures, see [Rules.Unary]).
	Tables
	// Steps rounds between the steps of softmax, softplus, softsign and the norms (inferred; the subtraction
	// of softmax's maximum is known).
	Steps
	// Int8Sums sums products of int8 in int32, infinite from 2^31 (MS 8.3).
	Int8Sums
	// RoundInHalf rounds to integers by an addition of 0.5 in fp16, wrong from 1024 to 2048 (AF, M5).
	RoundInHalf
	// SliceTimes16 multiplies by 16 in between when a slice begins inside the last axis: 4095 and above
	// become infinite (AG on M1 and M2).
	SliceTimes16
	// SoftplusEnds makes softplus 0 where its exponential is above 32768, from 10.41 on. Measured on the M4 (coremltools
	// #2687) and seen on the M5 (0 at 11 in AF, wrong above about 10.4 in a dump). An M3 Max has 0 from 10.395. The other
	// chips were not measured: there softplus ends where the exponential leaves fp16, at 11.09 (inferred).
	SoftplusEnds
)

// ruleNames says what each rule does, in the order of the constants.
var ruleNames = [...]string{
	"exponent 31 is a number",
	"rounding half away from zero",
	"rounding half away from zero in reductions",
	"product below 2^-16 dropped",
	"accumulator overflow",
	"groups of four rounded to 12 bits from 4096",
	"bias added in fp16 after the sum",
	"product rounded to 2^-16",
	"table of the function",
	"steps of a composite operator rounded to fp16",
	"int8 products summed in int32",
	"round by adding 0.5 in fp16",
	"slice inside the last axis multiplies by 16",
	"softplus is 0 where exp is above 32768",
}

// Has reports whether r contains all rules of x.
func (r Rules) Has(x Rules) bool { return r&x == x }

// Each returns the rules of r one by one, in the order of the constants.
func (r Rules) Each() []Rules {
	var all []Rules
	for r &= 1<<len(ruleNames) - 1; r != 0; r &= r - 1 {
		all = append(all, r&-r)
	}
	return all
}

// String says what the rules do, separated by commas; "reference" for none.
func (r Rules) String() string {
	var all []string
	for _, one := range r.Each() {
		all = append(all, ruleNames[bits.TrailingZeros32(uint32(one))])
	}
	if len(all) == 0 {
		return modes[Reference].name
	}
	return strings.Join(all, ", ")
}
