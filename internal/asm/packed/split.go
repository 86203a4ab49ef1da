package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// What sure may be, besides that all is known; and 65504, the largest half, as a float32.
const (
	unchecked = 0
	unbounded = 2
	largest   = 0x477fe000
)

// magnitude returns r without its sign.
func (w width) magnitude(r reg.VecVirtual) reg.VecVirtual {
	t := w.Constant(0x7fffffff)
	w.VANDPS(t, r, t)
	return t
}

// below leaves signs set only in lanes whose r is less than a bound. Both are magnitudes; one that is not a number is
// more than any.
func (w width) below(r, bound, signs reg.VecVirtual) {
	t := w.Vector()
	w.VPSUBD(bound, r, t)
	w.VANDPS(t, signs, signs)
}

// unset stores whether a lane has no sign.
func (w width) unset(signs reg.VecVirtual, result gotypes.Component) {
	r := w.GP32()
	if w.Bits == 512 {
		k := w.K()
		w.VPMOVD2M(signs, k)
		w.KMOVW(k, r)
	} else {
		w.VMOVMSKPS(signs, r)
	}
	w.CMPL(r, U32(1<<w.Lanes()-1))
	w.SETNE(w.Place(result))
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
	right, exact := w.Constant(1<<32-1), w.Constant(1<<32-1) // their signs
	w.Times("vector", w.Whole(p.Field("count")), func() {
		scale, offset := w.Vector(), w.Vector()
		w.PREFETCHT1(emit.At(scales, 4096))
		w.VCVTPH2PS(emit.At(scales, 0), scale)
		w.Add(w.Bits/16, scales)
		w.offsets(p, half, single, bytes, offset)

		sure := w.Fresh("sure")
		w.CMPL(w.Place(p.Field("sure")), Imm(unchecked))
		w.JNE(sure)
		w.check(field, scale, offset, right, exact)
		w.Here(sure)
		product, t := w.Vector(), field("more")
		w.VMULPS(scale, offset, product)
		w.VMULPS(scale, t, t)
		w.VADDPS(t, product, t)
		w.VMOVUPS(scale, emit.At(to, 0))
		w.VMOVUPS(t, emit.At(to, 0).Idx(stride, 1))
		bounded := w.Fresh("bounded")
		w.CMPL(w.Place(p.Field("sure")), Imm(unbounded))
		w.JNE(bounded)
		most, large := w.magnitude(scale), w.magnitude(t)
		w.VMULPS(field("wide"), most, most)
		w.VADDPS(large, most, most)
		w.below(most, w.Constant(largest), right)
		w.Here(bounded)

		done := w.Fresh("done")
		w.CMPL(w.Place(p.Field("full")), Imm(0))
		w.JEQ(done)
		w.parts(field, scale, offset, product, rest, stride)
		w.Here(done)
		w.Add(w.Bits/8, to)
		w.Add(w.Bits/8, rest)
	})
	w.unset(right, w.Return("wrong"))
	w.unset(exact, w.Return("inexact"))
	w.End()
}

// offsets reads the next offsets of one of three kinds, or of none.
func (w width) offsets(p gotypes.Component, half, single, bytes, offset reg.Register) {
	known := w.Fresh("known")
	kind := func(at reg.Register, size int, read func(m Mem)) {
		absent := w.Fresh("absent")
		w.TESTQ(at, at)
		w.JEQ(absent)
		read(emit.At(at, 0))
		w.Add(size, at)
		w.JMP(known)
		w.Here(absent)
	}
	kind(half, w.Bits/16, func(m Mem) {
		w.PREFETCHT1(m.Offset(4096))
		w.VCVTPH2PS(m, offset)
	})
	kind(single, w.Bits/8, func(m Mem) {
		w.PREFETCHT1(m.Offset(8192))
		w.VMOVUPS(m, offset)
	})
	kind(bytes, w.Lanes(), func(m Mem) {
		unsigned := w.Fresh("unsigned")
		w.VPMOVZXBD(m, offset)
		w.CMPQ(w.Place(p.Field("signed")), Imm(0))
		w.JEQ(unsigned)
		w.VPMOVSXBD(m, offset)
		w.Here(unsigned)
		w.VCVTDQ2PS(offset, offset)
	})
	w.VXORPS(offset, offset, offset)
	w.Here(known)
}

// check finds scales and offsets that kernels cannot take, or whose elements may not be exact.
func (w width) check(field func(string) reg.VecVirtual, scale, offset, right, exact reg.VecVirtual) {
	s, o, most := w.magnitude(scale), w.magnitude(offset), field("most")
	w.below(o, most, right)
	tiny, zero := w.Constant(0x12800000), w.Constant(1) // 2^-90
	w.VPSUBD(tiny, o, tiny)
	w.VPSUBD(zero, o, zero)
	w.VANDNPS(tiny, zero, tiny) // less, but not 0
	w.VANDNPS(right, tiny, right)
	w.VADDPS(most, o, o) // most is more than an integer
	w.VMULPS(o, s, s)
	w.below(s, w.Constant(largest), right) // no element is above it

	scaled, whole := field("unit"), w.Vector()
	w.VMULPS(scaled, offset, scaled)
	if w.Bits == 512 {
		w.VRNDSCALEPS(Imm(0), scaled, whole)
	} else {
		w.VROUNDPS(Imm(0), scaled, whole)
	}
	w.VXORPS(scaled, whole, whole)
	w.below(whole, w.Constant(1), exact) // the offset has no bit below the unit
	least, top := field("least"), field("top")
	w.VSUBPS(offset, least, least)
	w.VSUBPS(offset, top, top)
	least, top = w.magnitude(least), w.magnitude(top)
	w.VMAXPS(top, least, least)
	w.below(least, field("wide"), exact) // it is not far from an integer
}

// parts stores the parts of products.
func (w width) parts(field func(string) reg.VecVirtual, scale, offset, product reg.VecVirtual, to, stride reg.Register) {
	lost, power, high, low, over := w.Vector(), w.Constant(0x7f800000), w.Vector(), w.Vector(), w.Vector()
	w.VMOVAPS(offset, lost)
	w.VFMSUB213PS(product, scale, lost) // what rounding took of the product
	w.VANDPS(scale, power, power)
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
