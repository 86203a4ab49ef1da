package halves

import (
	"math"

	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// e^x is 2^m * 2^(j/4) * e^r with 4m + j = x * 4/ln 2, rounded. The roots of 2 are 0x1.1f7036 times greater: these are
// float32s but for 2^-31.3 of themselves, and a softmax is the same. They lack j << 21: adding 4m + j, shifted by
// 21, to their bits multiplies them by 2^m.
var roots = [4]uint32{0x3f8fb81b, 0x3faae96f - 1<<21, 0x3fcb3fe5 - 2<<21, 0x3ff1b4b3 - 3<<21}

// ofShare is the error of a quotient. An exponential errs by 2^-24 of itself when it is rounded and by 2^-26.9 before,
// the one that it stands for by 2^-24, the total by 2^-26.9, its inverse and the quotient by 2^-24.
const ofShare = 1.15 * 0x1p-22

// start is more than an exponential.
const start = 2

// softmaxRow is the bytes of what is known of a row.
const softmaxRow = 32

// softmaxing is a step of some rows. The steps of the rows follow each other: the processor ends one, whose last
// elements take their time, beside the beginning of the next.
type softmaxing struct {
	width
	s, row   gotypes.Component
	at       reg.Register // of row
	left     reg.GPVirtual
	n, pitch reg.GPVirtual // elements of a row, and from one to the next in copied and e
}

// softmax begins a step.
func (w width) softmax() *softmaxing {
	s := &softmaxing{width: w, s: w.Dereference(w.Param("s")), row: w.Dereference(w.Param("row"))}
	s.at, s.left = w.Place(s.row.Field("total")).Base, w.Whole(w.Param("rows"))
	s.n, s.pitch = w.Whole(s.s.Field("n")), w.Whole(s.s.Field("pitch"))
	return s
}

// next goes on with the next row, or ends the step.
func (s *softmaxing) next(again LabelRef) {
	s.Add(softmaxRow, s.at)
	s.DECQ(s.left)
	s.JNE(again)
}

// end returns how many rows are left.
func (s *softmaxing) end() {
	s.Store(s.left, s.ReturnIndex(0))
	s.End()
}

// known is what is known of the row.
func (s *softmaxing) known(field string) Mem { return s.Place(s.row.Field(field)) }

// tops writes the step that copies a row, ends it with distances that are infinite, finds the greatest element and what
// follows from that. It leaves if an element is NaN or the greatest is infinite.
func (w width) tops() {
	s := w.softmax()
	x, copied, stride := w.Whole(s.s.Field("x")), w.Whole(s.s.Field("copied")), w.Whole(s.s.Field("stride"))
	w.SUBQ(Imm(16), s.n)
	again, copy, last, leave := w.Fresh("row"), w.Fresh("copy"), w.Fresh("last"), w.Fresh("leave")
	w.Here(again)
	// The greatest with the sign, the nearest to 0, and the greatest without the sign: -NaN, or what is farthest below 0.
	v, most, near, far := w.Vector(), w.Vector(), w.Vector(), w.Zero()
	w.VPCMPEQD(near, near, near)
	w.VPSLLW(Imm(15), near, most)
	look := func(i reg.Register) {
		w.VMOVDQU(Mem{Base: x, Index: i, Scale: 2}, v)
		w.VMOVDQU(v, Mem{Base: copied, Index: i, Scale: 2})
		w.VPMAXSW(v, most, most)
		w.VPMINUW(v, near, near)
		w.VPMAXUW(v, far, far)
	}
	i := w.GP64()
	w.XORQ(i, i)
	w.TESTQ(s.n, s.n)
	w.JEQ(last)
	w.Here(copy)
	look(i)
	w.Add(16, i)
	w.CMPQ(i, s.n)
	w.JLT(copy)
	w.Here(last)
	look(s.n)
	w.VMOVDQU(w.Constant(0xfc00fc00), Mem{Base: copied, Index: s.n, Scale: 2, Disp: 32})

	w.VPSUBUSW(w.Table(8, func(int) int { return 0xfc00fc00 }), far, far)
	w.VPTEST(far, far)
	w.JNE(leave)
	w.VPXOR(w.Table(8, func(int) int { return 0x7fff7fff }), most, most)
	least := func(v reg.VecVirtual) reg.GPVirtual {
		r, t := w.GP32(), w.XMM()
		w.VEXTRACTI128(Imm(1), v, t)
		w.VPMINUW(t, v.AsX(), v.AsX())
		w.VPHMINPOSUW(v.AsX(), v.AsX())
		w.VMOVD(v.AsX(), r)
		w.MOVWLZX(r.As16(), r)
		return r
	}
	top, below, magnitude := least(most), least(near), w.GP32()
	w.XORL(U32(0x7fff), top)
	w.TESTL(U32(0x8000), top)
	w.CMOVLNE(below, top)
	w.MOVL(top, magnitude)
	w.ANDL(U32(0x7fff), magnitude)
	w.CMPL(magnitude, U32(0x7c00)) // infinity or NaN
	w.JGE(leave)
	f, power, by := w.XMM(), w.XMM(), w.XMM()
	w.VMOVD(top, f)
	w.VCVTPH2PS(f, f)
	w.VMOVSS(f, s.known("top"))
	w.VMULSS(w.single(1/math.Ln2), f, power)
	w.VROUNDSS(Imm(0), power, power, power)
	w.VMOVSS(power, s.known("power"))
	w.VMOVSS(w.single(0x1.8p23), by)
	w.VFNMADD231SS(w.single(4), power, by)
	w.VMOVSS(by, s.known("shift"))
	w.ADDQ(stride, x)
	w.LEAQ(Mem{Base: copied, Index: s.pitch, Scale: 2}, copied)
	s.next(again)
	w.Here(leave)
	s.end()
}

// chunk is the elements whose exponentials are computed in two loops, each short enough for the processor to have the
// next elements at work.
const chunk = 512

// exponentials writes the step that computes those of the copied row, and their sum.
func (w width) exponentials() {
	s := w.softmax()
	from, to, room := w.Whole(s.s.Field("copied")), w.Whole(s.s.Field("e")), w.Whole(s.s.Field("room"))
	again, some := w.Fresh("row"), w.Fresh("some")
	w.Add(7, s.n)
	w.ANDQ(I32(-8), s.n)
	w.SUBQ(s.n, s.pitch)
	w.Here(again)
	left, sum, lost := w.GP64(), w.loaded(w.single(start)), w.Zero()
	w.MOVQ(s.n, left)
	w.Here(some)
	now := w.GP64()
	w.MOVQ(U32(chunk), now)
	w.CMPQ(now, left)
	w.CMOVQGT(left, now)
	w.SUBQ(now, left)
	s.reduced(from, to, room, now)
	s.summed(to, room, now, sum, lost)
	w.LEAQ(Mem{Base: from, Index: now, Scale: 2}, from)
	w.LEAQ(Mem{Base: to, Index: now, Scale: 4}, to)
	w.TESTQ(left, left)
	w.JNE(some)
	w.VMOVUPS(sum, emit.At(to, 0))
	w.VMOVUPS(lost, emit.At(to, 32))
	w.LEAQ(Mem{Base: from, Index: s.pitch, Scale: 2}, from)
	w.LEAQ(Mem{Base: to, Index: s.pitch, Scale: 4}, to)
	s.next(again)

	// A total takes so long that no other step of its row may wait for it.
	each := w.Fresh("total")
	s.left, to = w.Whole(w.Param("rows")), w.Whole(s.s.Field("e"))
	w.Load(w.Param("row"), s.at)
	w.LEAQ(Mem{Base: to, Index: s.n, Scale: 4}, to)
	w.ADDQ(s.n, s.pitch)
	w.Here(each)
	s.total(w.loaded(emit.At(to, 0)), w.loaded(emit.At(to, 32)))
	w.LEAQ(Mem{Base: to, Index: s.pitch, Scale: 4}, to)
	s.next(each)
	s.end()
}

// reduced writes r of some elements to e, and the powers with their roots to room.
func (s *softmaxing) reduced(from, to, room, n reg.Register) {
	shift, least, i := s.Vector(), s.Vector(), s.GP64()
	s.VBROADCASTSS(s.known("shift"), shift)
	s.VBROADCASTSS(s.known("top"), least)
	s.VSUBPS(s.single(60), least, least)
	parts := s.loaded(s.Table(8, func(i int) int { return int(roots[i%4]) }))
	inverse := s.loaded(s.single(4 / math.Ln2))
	away, rest := s.loaded(s.single(0x1.62e430p-3)), s.loaded(s.single(-0x1.05c610p-31)) // ln 2/4, the first in 2^-23
	s.XORQ(i, i)
	s.until("reduce", i, n, func() {
		x, t, k := s.Vector(), s.Vector(), s.Vector()
		s.VCVTPH2PS(Mem{Base: from, Index: i, Scale: 2}, x)
		s.VMAXPS(least, x, x)
		s.VMOVAPS(shift, t)
		s.VFMADD231PS(inverse, x, t)
		s.VSUBPS(shift, t, k)
		s.VFNMADD231PS(away, k, x) // exact
		s.VFNMADD231PS(rest, k, x)
		s.VMOVUPS(x, Mem{Base: to, Index: i, Scale: 4})
		s.VPERMILPS(t, parts, k)
		s.VPSLLD(Imm(21), t, t)
		s.VPADDD(t, k, k)
		s.VMOVUPS(k, Mem{Base: room, Index: i, Scale: 4})
	})
}

// summed replaces r by the exponentials, and adds them to the sum, which is greater, and what it loses.
func (s *softmaxing) summed(to, room, n reg.Register, sum, lost reg.VecVirtual) {
	var c [4]reg.VecVirtual
	for i, f := range []float32{0x1.fffffep-2, 0x1.555558p-3, 0x1.5573b4p-5, 0x1.110840p-7} {
		c[i] = s.loaded(s.single(f))
	}
	i := s.GP64()
	s.XORQ(i, i)
	s.until("sum", i, n, func() {
		r, k, square, low, high := s.Vector(), s.Vector(), s.Vector(), s.Vector(), s.Vector()
		s.VMOVUPS(Mem{Base: to, Index: i, Scale: 4}, r)
		s.VMULPS(r, r, square)
		s.VMOVAPS(c[1], low)
		s.VFMADD213PS(c[0], r, low)
		s.VMOVAPS(c[3], high)
		s.VFMADD213PS(c[2], r, high)
		s.VFMADD213PS(low, square, high)
		s.VFMADD213PS(r, square, high)
		s.VMOVUPS(Mem{Base: room, Index: i, Scale: 4}, k)
		s.VMOVAPS(high, r)
		s.VFMADD213PS(k, k, r)
		s.VMOVUPS(r, Mem{Base: to, Index: i, Scale: 4})
		s.VMOVAPS(sum, low)
		s.VADDPS(r, sum, sum)
		s.VSUBPS(low, sum, low) // what the sum took
		s.VSUBPS(low, k, low)
		s.VFMADD231PS(high, k, low)
		s.VADDPS(low, lost, lost)
	})
}

// until repeats body, which takes a vector, until element i is n.
func (s *softmaxing) until(name string, i, n reg.Register, body func()) {
	l := s.Fresh(name)
	s.Here(l)
	body()
	s.Add(8, i)
	s.CMPQ(i, n)
	s.JLT(l)
}

// total adds up the sums, and sets the ends of the margin of the total's inverse.
func (s *softmaxing) total(sum, lost reg.VecVirtual) {
	d := s.Vectors(2)
	wide := func(v reg.VecVirtual) {
		s.VEXTRACTF128(Imm(1), v, d[1].AsX())
		s.VCVTPS2PD(v.AsX(), d[0])
		s.VCVTPS2PD(d[1].AsX(), d[1])
		s.VADDPD(d[1], d[0], d[0])
	}
	s.VSUBPS(s.single(start), sum, sum)
	wide(lost)
	total := s.Vector()
	s.VMOVAPD(d[0], total)
	wide(sum)
	s.VADDPD(d[0], total, total)
	s.VEXTRACTF128(Imm(1), total, d[0].AsX())
	s.VADDPD(d[0].AsX(), total.AsX(), total.AsX())
	s.VHADDPD(total.AsX(), total.AsX(), total.AsX())
	s.VMOVSD(total.AsX(), s.known("total"))
	bits := [2]uint64{math.Float64bits(1 - ofShare), math.Float64bits(1 + ofShare)}
	s.VMOVUPD(s.Table(4, func(i int) int { return int(bits[i/2] >> (32 * (i % 2)) & (1<<32 - 1)) }), d[0].AsX())
	s.VDIVPD(total.AsX(), d[0].AsX(), d[0].AsX())
	s.VCVTPD2PSX(d[0].AsX(), d[0].AsX())
	s.VMOVSD(d[0].AsX(), s.Place(s.row.Field("ends").Index(0)))
}

// quotients writes the step that divides the exponentials, from element at of the row on. It leaves where the margin
// does not decide a block.
func (w width) quotients() {
	s := w.softmax()
	e, dst, place := w.Whole(s.s.Field("e")), w.Whole(s.s.Field("dst")), w.Whole(s.s.Field("at"))
	stride, ahead := w.Whole(s.s.Field("stride")), w.Whole(s.s.Field("x"))
	w.ADDQ(w.Place(s.s.Field("ahead")), ahead)
	w.SUBQ(Imm(16), s.n)
	again, some, unsure, done, leave := w.Fresh("row"), w.Fresh("some"), w.Fresh("unsure"), w.Fresh("done"),
		w.Fresh("leave")
	w.Here(again)
	low, high := w.Vector(), w.Vector()
	w.VBROADCASTSS(w.Place(s.row.Field("ends").Index(0)), low)
	w.VBROADCASTSS(w.Place(s.row.Field("ends").Index(1)), high)
	w.Here(some)
	v := w.Vectors(4)
	w.PREFETCHT0(Mem{Base: ahead, Index: place, Scale: 2})
	w.ends(Mem{Base: e, Index: place, Scale: 4}, low, high, v)
	w.JNE(unsure)
	w.VMOVDQU(v[0].AsX(), Mem{Base: dst, Index: place, Scale: 2})
	w.VMOVDQU(v[1].AsX(), Mem{Base: dst, Index: place, Scale: 2, Disp: 16})
	w.CMPQ(place, s.n)
	w.JEQ(done)
	w.Add(16, place)
	w.CMPQ(place, s.n)
	w.CMOVQGT(s.n, place)
	w.JMP(some)
	w.Here(done)
	w.XORQ(place, place)
	w.ADDQ(stride, dst)
	w.ADDQ(stride, ahead)
	w.LEAQ(Mem{Base: e, Index: s.pitch, Scale: 4}, e)
	s.next(again)
	w.JMP(leave)

	w.Here(unsure)
	w.VMOVDQU(v[0].AsX(), w.Place(s.s.Field("low").Index(0)))
	w.VMOVDQU(v[1].AsX(), w.Place(s.s.Field("low").Index(8)))
	w.VINSERTI128(Imm(1), v[3].AsX(), v[2], v[2])
	w.VPXOR(v[3], v[3], v[3])
	w.VPCMPEQW(v[3], v[2], v[2])
	mask := w.GP32()
	w.VPMOVMSKB(v[2], mask)
	w.NOTL(mask)
	w.MOVL(mask, w.Place(s.s.Field("unsure")))
	w.MOVQ(place, w.Place(s.s.Field("at")))
	w.Here(leave)
	s.end()
}

// rounded rounds 16 elements times both ends of a margin to halves: of the first in two vectors, then of the second.
func (w width) rounded(x Mem, low, high reg.VecVirtual, v []reg.VecVirtual) {
	for i := range v {
		w.VMULPS(x.Offset(i%2*32), []reg.VecVirtual{low, high}[i/2], v[i])
	}
	for _, r := range v {
		w.VCVTPS2PH(Imm(0), r, r.AsX())
	}
}

// ends is rounded, with exclusive or of the halves in the last two vectors. The flags tell whether they differ.
func (w width) ends(x Mem, low, high reg.VecVirtual, v []reg.VecVirtual) {
	w.rounded(x, low, high, v)
	w.VPXOR(v[0].AsX(), v[2].AsX(), v[2].AsX())
	w.VPXOR(v[1].AsX(), v[3].AsX(), v[3].AsX())
	t := w.XMM()
	w.VPOR(v[2].AsX(), v[3].AsX(), t)
	w.VPTEST(t, t)
}

// scale writes the function that multiplies by the ends of a margin.
func (w width) scale() {
	dst, x, ends := w.Whole(w.Param("dst")), w.Whole(w.Param("x")), w.Whole(w.Param("ends"))
	blocks, some, unsure := w.Whole(w.Param("blocks")), w.Fresh("some"), w.Fresh("unsure")
	low, high := w.Vector(), w.Vector()
	w.VBROADCASTSS(emit.At(ends, 0), low)
	w.VBROADCASTSS(emit.At(ends, 4), high)
	finite := w.loaded(w.Table(8, func(int) int { return 2*0x7bff<<16 + 2*0x7bff }))
	w.Here(some)
	v := w.Vectors(4)
	w.rounded(emit.At(x, 0), low, high, v)
	w.VINSERTI128(Imm(1), v[1].AsX(), v[0], v[0])
	w.VINSERTI128(Imm(1), v[3].AsX(), v[2], v[2])
	w.VPXOR(v[0], v[2], v[2])
	w.VPADDW(v[0], v[0], v[1]) // without the sign
	w.VPSUBUSW(finite, v[1], v[1])
	w.VPOR(v[1], v[2], v[2])
	w.VPTEST(v[2], v[2])
	w.JNE(unsure)
	w.VMOVDQU(v[0], emit.At(dst, 0))
	w.Add(64, x)
	w.Add(32, dst)
	w.DECQ(blocks)
	w.JNE(some)
	w.Here(unsure)
	done := w.Whole(w.Param("blocks"))
	w.SUBQ(blocks, done)
	w.Store(done, w.ReturnIndex(0))
	w.End()
}
