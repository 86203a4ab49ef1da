package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The predicates of comparisons.
const (
	notEqual = U8(4)
	less     = U8(0x11)
	notBelow = U8(0x16) // greater, or not a number
)

// mask returns bits for the lanes of a vector, all 0.
func (w width) mask() reg.Register {
	if w.Bits == 512 {
		k := w.K()
		w.KXORW(k, k, k)
		return k
	}
	return w.Zero()
}

// compare returns the lanes in which a predicate holds of a and b.
func (w width) compare(predicate U8, b, a reg.Register) reg.Register {
	m := w.Mask()
	w.VCMPPS(predicate, b, a, m)
	return m
}

// or adds lanes to m.
func (w width) or(more, m reg.Register) {
	if w.Bits == 512 {
		w.KORW(more, m, m)
	} else {
		w.VORPS(more, m, m)
	}
}

// and leaves m the lanes that another mask has too.
func (w width) and(other, m reg.Register) {
	if w.Bits == 512 {
		w.KANDW(other, m, m)
	} else {
		w.VANDPS(other, m, m)
	}
}

// any stores whether m has a lane.
func (w width) any(m reg.Register, result gotypes.Component) {
	r := w.GP32()
	if w.Bits == 512 {
		w.KMOVW(m, r)
	} else {
		w.VMOVMSKPS(m, r)
	}
	w.TESTL(r, r)
	w.SETNE(w.Place(result))
}

// bits returns the bits of r that are set in a number.
func (w width) bits(number uint32, r reg.VecVirtual) reg.VecVirtual {
	t := w.Constant(number)
	w.VANDPS(t, r, t)
	return t
}

// split writes the function that prepares scales and offsets.
func (w width) split() {
	p := w.Dereference(w.Param("p"))
	field := func(name string) reg.VecVirtual {
		r := w.Vector()
		w.VBROADCASTSS(w.Place(p.Field(name)), r)
		return r
	}
	scales, to, stride := w.Whole(p.Field("scale")), w.Whole(p.Field("to")), w.Whole(p.Field("stride"))
	half, single, bytes := w.Whole(p.Field("half")), w.Whole(p.Field("single")), w.Whole(p.Field("bytes"))
	rest := w.GP64()
	w.LEAQ(Mem{Base: to, Index: stride, Scale: 2}, rest)
	wrong, inexact := w.mask(), w.mask()
	w.Times("vector", w.Whole(p.Field("count")), func() {
		scale, offset := w.Vector(), w.Vector()
		w.PREFETCHT1(emit.At(scales, 4096))
		w.VCVTPH2PS(emit.At(scales, 0), scale)
		w.Add(w.Bits/16, scales)
		w.offsets(p, half, single, bytes, offset)

		sure := w.Fresh("sure")
		w.CMPL(w.Place(p.Field("sure")), Imm(0))
		w.JNE(sure)
		w.check(field, scale, offset, wrong, inexact)
		w.Here(sure)
		product, t := w.Vector(), field("more")
		w.VMULPS(scale, offset, product)
		w.VMULPS(scale, t, t)
		w.VADDPS(t, product, t)
		w.VMOVUPS(scale, emit.At(to, 0))
		w.VMOVUPS(t, emit.At(to, 0).Idx(stride, 1))

		done := w.Fresh("done")
		w.CMPL(w.Place(p.Field("full")), Imm(0))
		w.JEQ(done)
		w.parts(field, scale, offset, product, rest, stride)
		w.Here(done)
		w.Add(w.Bits/8, to)
		w.Add(w.Bits/8, rest)
	})
	w.any(wrong, w.Return("wrong"))
	w.any(inexact, w.Return("inexact"))
	w.End()
}

// offsets reads the next offsets of one of three kinds, or of none.
func (w width) offsets(p gotypes.Component, half, single, bytes, offset reg.Register) {
	known, halves, singles, signed := w.Fresh("known"), w.Fresh("half"), w.Fresh("single"), w.Fresh("signed")
	integers := w.Fresh("integer")
	w.TESTQ(half, half)
	w.JNE(halves)
	w.TESTQ(single, single)
	w.JNE(singles)
	w.VXORPS(offset.(reg.VecVirtual).AsX(), offset.(reg.VecVirtual).AsX(), offset.(reg.VecVirtual).AsX())
	w.TESTQ(bytes, bytes)
	w.JEQ(known)
	w.CMPQ(w.Place(p.Field("signed")), Imm(0))
	w.JNE(signed)
	w.VPMOVZXBD(emit.At(bytes, 0), offset)
	w.JMP(integers)
	w.Here(signed)
	w.VPMOVSXBD(emit.At(bytes, 0), offset)
	w.Here(integers)
	w.VCVTDQ2PS(offset, offset)
	w.Add(w.Lanes(), bytes)
	w.JMP(known)
	w.Here(halves)
	w.PREFETCHT1(emit.At(half, 4096))
	w.VCVTPH2PS(emit.At(half, 0), offset)
	w.Add(w.Bits/16, half)
	w.JMP(known)
	w.Here(singles)
	w.PREFETCHT1(emit.At(single, 8192))
	w.VMOVUPS(emit.At(single, 0), offset)
	w.Add(w.Bits/8, single)
	w.Here(known)
}

// check finds scales and offsets that kernels cannot take, or whose elements may not be exact.
func (w width) check(field func(string) reg.VecVirtual, scale, offset reg.VecVirtual, wrong, inexact reg.Register) {
	s, o, most := w.bits(0x7fffffff, scale), w.bits(0x7fffffff, offset), field("most")
	w.or(w.compare(notBelow, most, o), wrong)
	tiny := w.compare(less, w.Constant(0x12800000), o) // 2^-90
	w.and(w.compare(notEqual, w.Zero(), o), tiny)
	w.or(tiny, wrong)
	w.VADDPS(most, o, o) // most is more than an integer
	w.VMULPS(o, s, s)
	w.or(w.compare(notBelow, w.Constant(0x477fe000), s), wrong) // an element may be above 65504

	scaled, whole := field("unit"), w.Vector()
	w.VMULPS(scaled, offset, scaled)
	if w.Bits == 512 {
		w.VRNDSCALEPS(Imm(0), scaled, whole)
	} else {
		w.VROUNDPS(Imm(0), scaled, whole)
	}
	w.or(w.compare(notEqual, whole, scaled), inexact) // the offset has a bit below the unit
	least, top := field("least"), field("top")
	w.VSUBPS(offset, least, least)
	w.VSUBPS(offset, top, top)
	least, top = w.bits(0x7fffffff, least), w.bits(0x7fffffff, top)
	w.VMAXPS(top, least, least)
	w.or(w.compare(notBelow, field("wide"), least), inexact) // it is far from an integer
}

// parts stores the parts of products.
func (w width) parts(field func(string) reg.VecVirtual, scale, offset, product reg.VecVirtual, to, stride reg.Register) {
	lost, power, high, low, over := w.Vector(), w.bits(0x7f800000, scale), w.Vector(), w.Vector(), w.Vector()
	w.VMOVAPS(offset, lost)
	w.VFMSUB213PS(product, scale, lost) // what rounding took of the product
	w.VMULPS(field("magic"), power, power)
	w.VADDPS(power, product, high)
	w.VSUBPS(power, high, high)
	w.VMOVUPS(high, emit.At(to, 0))
	rest := high
	w.VSUBPS(high, product, rest) // exact
	if w.Bits == 512 {
		w.VADDPS_RD_SAE(lost, rest, low)
		w.VADDPS_RU_SAE(lost, rest, over)
	} else {
		back := w.Vector()
		w.VADDPS(lost, rest, low)
		w.VSUBPS(rest, low, over) // what rounding took of the rest, by 2Sum
		w.VSUBPS(over, low, back)
		w.VSUBPS(back, rest, back)
		w.VSUBPS(over, lost, over)
		w.VADDPS(back, over, over)
	}
	w.VMOVUPS(low, emit.At(to, 0).Idx(stride, 1))
	w.VMOVUPS(over, emit.At(to, 0).Idx(stride, 2))
}
