package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector is the function that makes integers of groups of a vector.
type vector struct {
	width
	f         gotypes.Component // its argument, a fixing
	x         reg.GPVirtual
	magnitude reg.VecVirtual // the bits of one
}

// magnitudes returns the magnitudes of the 32 elements at x.
func (v vector) magnitudes(x reg.Register) []reg.VecVirtual {
	r := v.Vectors(32 / v.Lanes())
	for i := range r {
		v.VANDPS(emit.At(x, i*v.Bits/8), v.magnitude, r[i])
	}
	return r
}

// exponent returns the exponent of the greatest magnitude in the group at x, or that of 2^-24 if it is less, and the
// bits of the magnitude in most.
func (v vector) exponent() (e reg.GPVirtual, most reg.VecVirtual) {
	x, greatest := v.GP64(), []reg.VecVirtual{v.Zero(), v.Zero()}
	v.MOVQ(v.x, x)
	v.Times("most", v.Whole(v.f.Field("each")), func() {
		for i, r := range v.magnitudes(x) {
			v.VPMAXUD(r, greatest[i%2], greatest[i%2])
		}
		v.Add(128, x)
	})
	v.VPMAXUD(greatest[1], greatest[0], greatest[0])
	most = v.fold(greatest[0], func(t, r reg.Register) { v.VPMAXUD(t, r, r) })
	e = v.GP64()
	least := v.GP32()
	v.VMOVD(most, e.As32())
	v.SHRL(Imm(23), e.As32())
	v.MOVL(U32(103), least)
	v.CMPL(e.As32(), least)
	v.CMOVLLT(least, e.As32())
	return e, most
}

// fold combines all lanes of a vector in the first one of a register of 128 bits, which it returns.
func (w width) fold(r reg.VecVirtual, combine func(t, r reg.Register)) reg.VecVirtual {
	if w.Bits == 512 {
		t := w.YMM()
		w.VEXTRACTF64X4(Imm(1), r, t)
		combine(t, r.AsY())
	}
	t := w.XMM()
	w.VEXTRACTF128(Imm(1), r.AsY(), t)
	combine(r.AsX(), t)
	to := w.XMM()
	for _, order := range []uint64{0x4e, 0xb1} {
		w.VPSHUFD(Imm(order), t, to)
		combine(to, t)
	}
	return t
}

// power sets all lanes of a register to a power of two, whose exponent is e less a number.
func (v vector) power(e reg.GPVirtual, less int32) reg.VecVirtual {
	r := v.Vector()
	v.ADDL(I32(-less), e.As32())
	v.SHLL(Imm(23), e.As32())
	v.VMOVD(e.As32(), r.AsX())
	v.VPBROADCASTD(r.AsX(), r)
	return r
}

// exponents returns the exponent of the greatest magnitude in the group at x, that of 2^places over its power, and a copy
// of the first. It adds the group to greatest.
func (v vector) exponents(greatest reg.VecVirtual, places uint32) (e, inverse, bound reg.GPVirtual) {
	e, most := v.exponent()
	v.VPMAXUD(most, greatest, greatest)
	inverse, bound = v.GP64(), v.GP64()
	v.MOVL(U32(254+places), inverse.As32())
	v.SUBL(e.As32(), inverse.As32())
	v.MOVL(e.As32(), bound.As32())
	return e, inverse, bound
}

// fix makes the integers of a vector and their digits, which are from -128 to 127 and worth 2^16, 2^8 and 1. With 256
// bits the highest is worth -2^15, which 16 bits have, and no more than 127; the others are what is left.
func (w width) fix() {
	f := w.Dereference(w.Param("f"))
	v := vector{w, f, w.Whole(f.Field("x")), w.Constant(0x7fffffff)}
	to, sums, pieces, greatest := w.Whole(f.Field("to")), w.Whole(f.Field("sums")), w.GP32(), w.XMM()
	w.XORL(pieces, pieces)
	w.VXORPS(greatest, greatest, greatest)
	w.MOVB(Imm(1), w.Place(w.Return("steep")))
	steep := w.Fresh("steep")
	w.Times("group", w.Whole(f.Field("groups")), func() {
		e, inverse, bound := v.exponents(greatest, 21)
		by, unit, small, sum := v.power(inverse, 0), v.power(e, 21), v.power(bound, 12), w.Zero()
		w.Times("piece", w.Whole(f.Field("each")), func() {
			v.flat(small, steep)
			r := w.Vectors(32 / w.Lanes())
			for i := range r {
				w.VMULPS(emit.At(v.x, i*w.Bits/8), by, r[i])
				w.VCVTPS2DQ(r[i], r[i])
				w.VPADDD(r[i], sum, sum)
				w.digits(r[i])
			}
			w.place(r, to)
			w.VMOVUPS(unit.AsX(), emit.At(to, 384))
			w.Add(128, v.x)
			w.Add(16, to)
			within := w.Fresh("within")
			w.INCL(pieces)
			w.TESTL(U32(3), pieces)
			w.JNE(within)
			w.Add(384, to)
			w.Here(within)
		})
		total := w.fold(sum, func(t, r reg.Register) { w.VPADDD(t, r, r) })
		w.VCVTDQ2PS(total, total)
		w.VMULSS(unit.AsX(), total, total)
		w.VMOVSS(total, emit.At(sums, 0))
		w.Add(4, sums)
	})
	most := w.GP32()
	w.VMOVD(greatest, most)
	w.Store(most, w.Return("most"))
	w.MOVB(Imm(0), w.Place(w.Return("steep")))
	w.Here(steep)
	w.End()
}

// flat jumps to steep if at least half of the 32 elements at x that are not 0 are less than a bound.
func (v vector) flat(bound reg.VecVirtual, steep LabelRef) {
	var small, none []reg.Register
	zero := v.Zero()
	for _, r := range v.magnitudes(v.x) {
		s, n := v.Mask(), v.Mask()
		v.VPCMPGTD(r, bound, s) // or 0
		v.VPCMPEQD(r, zero, n)
		small, none = append(small, s), append(none, n)
	}
	few, zeros, flat := v.count(small), v.count(none), v.Fresh("flat")
	v.CMPL(zeros, Imm(32))
	v.JEQ(flat)
	v.ADDL(few, few) // twice the small ones and zeros, less zeros: twice the small ones, and all that are not small
	v.SUBL(zeros, few)
	v.CMPL(few, Imm(32))
	v.JGE(steep)
	v.Here(flat)
}

// digits sets a vector to the digits of its integers. Each four become 16 bytes: of the highest digits those of the
// even and of the odd ones, then the middle and the lowest.
func (w width) digits(r reg.VecVirtual) {
	all := func(n int) Mem { return w.Table(w.Lanes(), func(int) int { return n }) }
	round, top := all(0x808080), w.Vector()
	if w.Bits == 256 {
		round = all(0x80)
		rest := w.Vector()
		w.VPADDD(all(1<<14), r, top)
		w.VPSRAD(Imm(15), top, top)
		w.VPMINSD(all(127), top, top)
		w.VPMAXSD(all(1<<32-127), top, top)
		w.VPSLLD(Imm(15), top, rest)
		w.VPSUBD(rest, r, r)
		w.VPSUBW(top, w.Zero(), top)
		w.VPSLLD(Imm(16), top, top)
	}
	w.VPADDD(round, r, r)
	w.VXORPS(round, r, r)
	if w.Bits == 256 {
		w.VPBLENDW(Imm(0xaa), top, r, r)
	}
	order := []int{2, 10, 6, 14, 1, 9, 5, 13, 0, 8, 4, 12, 128, 128, 128, 128}
	w.VPSHUFB(w.Bytes(64, func(i int) int { return order[i%16] }), r, r)
}

// place stores the digits of 32 integers in six rows.
func (w width) place(r []reg.VecVirtual, to reg.Register) {
	if w.Bits == 512 {
		// Two bytes of each of eight lanes of 128 bits make a row, one after the other.
		word := func(i int) int { return i%8*8 + i/8 }
		rows := w.Table(16, func(i int) int { return word(2*i) | word(2*i+1)<<16 })
		first, last := w.ZMM(), w.ZMM()
		w.VMOVUPS(rows, first)
		w.VPADDW(w.Constant(4<<16|4), first, last)
		w.VPERMI2W(r[1], r[0], first)
		w.VPERMI2W(r[1], r[0], last)
		for i := range 6 {
			w.VEXTRACTI32X4(Imm(uint64(i%4)), []reg.Register{first, last}[i/4], emit.At(to, 64*i))
		}
		return
	}
	t := w.Vectors(4)
	for i, n := range []uint64{0x20, 0x31, 0x20, 0x31} {
		w.VPERM2I128(Imm(n), r[2+i/2], r[i/2], t[i])
	}
	for i := range 2 {
		w.VPUNPCKLWD(t[2*i+1], t[2*i], r[2*i])
		w.VPUNPCKHWD(t[2*i+1], t[2*i], r[2*i+1])
	}
	w.VPUNPCKLDQ(r[2], r[0], t[0])
	w.VPUNPCKHDQ(r[2], r[0], t[1])
	w.VPUNPCKLDQ(r[3], r[1], t[2])
	for i, r := range t[:3] { // r has eight bytes of each of two rows, then the others
		w.VPERMQ(Imm(0xd8), r, r)
		w.VMOVDQU(r.AsX(), emit.At(to, 128*i))
		w.VEXTRACTI128(Imm(1), r, emit.At(to, 128*i+64))
	}
}

// count returns the number of 32 lanes that are set.
func (w width) count(r []reg.Register) reg.GPVirtual {
	n := w.GP32()
	if w.Bits == 512 {
		w.KUNPCKWD(r[0], r[1], r[0])
		w.KMOVD(r[0], n)
	} else {
		w.VPACKSSDW(r[1], r[0], r[0])
		w.VPACKSSDW(r[3], r[2], r[2])
		w.VPACKSSWB(r[2], r[0], r[0])
		w.VPMOVMSKB(r[0], n)
	}
	w.POPCNTL(n, n)
	return n
}
