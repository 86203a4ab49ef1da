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

// step is the vectors that a loop takes, one beside the other.
const step = 2

// chunk is the steps whose exponentials are computed in two loops, each short enough for the processor to have
// the next elements at work.
const chunk = 32

// start is more than an exponential.
const start = 2

// softmaxing are the registers that a row needs.
type softmaxing struct {
	width
	s          gotypes.Component
	sum, lost  reg.VecVirtual // of the exponentials, and what the sum loses
	e, dst     reg.GPVirtual
	last, left reg.GPVirtual // the place of the last block of a row, and how many rows are left
}

// softmax writes the function that computes rows. The first loop copies a row and ends it with distances that are
// infinite.
func (w width) softmax() {
	s := &softmaxing{width: w, s: w.Dereference(w.Param("s"))}
	s.e, s.dst = w.Whole(s.s.Field("e")), w.Whole(s.s.Field("dst"))
	s.last, s.left = w.Whole(s.s.Field("n")), w.Whole(w.Param("rows"))
	w.SUBQ(Imm(16), s.last)
	place := w.Whole(s.s.Field("at"))
	row, scale, leave := w.Fresh("row"), w.Fresh("scale"), w.Fresh("leave")
	w.TESTQ(place, place)
	w.JNE(scale)
	w.Here(row)
	s.top(leave)
	s.exponentials()
	s.total()
	w.XORQ(place, place)

	w.Here(scale)
	low, high := w.Vector(), w.Vector()
	w.VBROADCASTSS(w.Place(s.s.Field("ends").Index(0)), low)
	w.VBROADCASTSS(w.Place(s.s.Field("ends").Index(1)), high)
	some, unsure, done := w.Fresh("some"), w.Fresh("unsure"), w.Fresh("done")
	w.Here(some)
	v := w.Vectors(4)
	w.ends(Mem{Base: s.e, Index: place, Scale: 4}, low, high, v)
	w.JNE(unsure)
	w.VMOVDQU(v[0].AsX(), Mem{Base: s.dst, Index: place, Scale: 2})
	w.VMOVDQU(v[1].AsX(), Mem{Base: s.dst, Index: place, Scale: 2, Disp: 16})
	w.CMPQ(place, s.last)
	w.JEQ(done)
	w.Add(16, place)
	w.CMPQ(place, s.last)
	w.CMOVQGT(s.last, place)
	w.JMP(some)
	w.Here(done)
	stride := w.Whole(s.s.Field("stride"))
	w.ADDQ(stride, s.dst)
	w.ADDQ(stride, w.Place(s.s.Field("x")))
	w.DECQ(s.left)
	w.JNE(row)
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
	w.MOVQ(s.dst, w.Place(s.s.Field("dst")))
	w.Store(s.left, w.ReturnIndex(0))
	w.End()
}

// ends rounds 16 elements times both ends of a margin. The halves of the first are in the first two vectors; in the
// others they are exclusive or with those of the second. The flags tell whether they differ.
func (w width) ends(x Mem, low, high reg.VecVirtual, v []reg.VecVirtual) {
	for i := range v {
		w.VMULPS(x.Offset(i%2*32), []reg.VecVirtual{low, high}[i/2], v[i])
	}
	for _, r := range v {
		w.VCVTPS2PH(Imm(0), r, r.AsX())
	}
	w.VPXOR(v[0].AsX(), v[2].AsX(), v[2].AsX())
	w.VPXOR(v[1].AsX(), v[3].AsX(), v[3].AsX())
	t := w.XMM()
	w.VPOR(v[2].AsX(), v[3].AsX(), t)
	w.VPTEST(t, t)
}

// top copies a row, finds its greatest element and what follows from that, or leaves if an element is NaN or the
// greatest is infinite.
func (s *softmaxing) top(leave LabelRef) {
	x, copied := s.Whole(s.s.Field("x")), s.Whole(s.s.Field("copied"))
	from, to, n := s.GP64(), s.GP64(), s.GP64()
	s.MOVQ(x, from)
	s.MOVQ(copied, to)
	s.LEAQ(emit.At(s.last, 16), n)
	s.SHRQ(Imm(4), n)
	words, least, most := s.Constant(0x7fff7fff), s.Constant(0x7fff7fff), s.Constant(0x80008000)
	v, key := s.Vector(), s.Vector()
	look := func(from, to Mem) {
		s.VMOVDQU(from, v)
		s.VMOVDQU(v, to)
		s.VPSRAW(Imm(15), v, key)
		s.VPAND(words, key, key)
		s.VPXOR(v, key, key)
		s.VPMINSW(key, least, least)
		s.VPMAXSW(key, most, most)
	}
	s.Times("copy", n, func() {
		look(emit.At(from, 0), emit.At(to, 0))
		s.Add(32, from)
		s.Add(32, to)
	})
	look(Mem{Base: x, Index: s.last, Scale: 2}, Mem{Base: copied, Index: s.last, Scale: 2})
	s.VMOVDQU(s.Constant(0xfc00fc00), Mem{Base: copied, Index: s.last, Scale: 2, Disp: 32})

	// In the order of words without a sign, the greatest comes first too.
	s.VPXOR(words, most, most)
	s.VPXOR(s.Table(8, func(int) int { return 0x80008000 }), least, least)
	first := func(v reg.VecVirtual) reg.GPVirtual {
		r := s.GP32()
		s.VEXTRACTI128(Imm(1), v, key.AsX())
		s.VPMINUW(key.AsX(), v.AsX(), v.AsX())
		s.VPHMINPOSUW(v.AsX(), v.AsX())
		s.VMOVD(v.AsX(), r)
		s.MOVWLZX(r.As16(), r)
		return r
	}
	low, high := first(least), first(most)
	s.CMPL(low, U32(0x03ff)) // less than -infinity: NaN
	s.JLT(leave)
	s.CMPL(high, U32(0xfc00)) // -infinity
	s.JGE(leave)
	s.CMPL(high, U32(0x03ff)) // infinity or NaN
	s.JLE(leave)
	number := s.GP32()
	s.MOVL(high, number)
	s.XORL(U32(0x7fff), number)
	s.TESTL(U32(0x8000), high)
	s.CMOVLEQ(number, high)

	f, power, by := s.XMM(), s.XMM(), s.XMM()
	s.VMOVD(high, f)
	s.VCVTPH2PS(f, f)
	s.VMOVSS(f, s.Place(s.s.Field("top")))
	s.VCVTSS2SD(f, f, power)
	s.VMULSD(s.double(1/math.Ln2), power, power)
	s.VROUNDSD(Imm(0), power, power, power)
	s.VMOVSD(power, s.Place(s.s.Field("power")))
	s.VMOVSD(s.double(0x1.8p23), by)
	s.VFNMADD231SD(s.double(4), power, by)
	s.VCVTSD2SS(by, by, by)
	s.VMOVSS(by, s.Place(s.s.Field("shift")))
	least = s.Vector()
	s.VSUBSS(s.single(60), f, f)
	s.VBROADCASTSS(f, least)
	s.VMOVUPS(least, s.Place(s.s.Field("least").Index(0)))
}

// exponentials computes those of the copied row, and their sum.
func (s *softmaxing) exponentials() {
	s.sum, s.lost = s.loaded(s.single(start)), s.Zero()
	from, to, blocks, n := s.Whole(s.s.Field("copied")), s.GP64(), s.GP64(), s.GP64()
	s.MOVQ(s.e, to)
	s.LEAQ(emit.At(s.last, 16+8*step-1), blocks)
	s.SHRQ(Imm(4), blocks)
	room, at, again := s.GP64(), s.GP64(), s.Fresh("chunk")
	s.Here(again)
	s.MOVQ(U32(chunk), n)
	s.CMPQ(n, blocks)
	s.CMOVQGT(blocks, n)
	s.SUBQ(n, blocks)
	rest := s.GP64()
	s.MOVQ(to, at)
	s.MOVQ(n, rest)
	s.MOVQ(s.Place(s.s.Field("k")), room)
	s.reduced(from, to, room, n)
	s.MOVQ(s.Place(s.s.Field("k")), room)
	s.summed(at, room, rest)
	s.TESTQ(blocks, blocks)
	s.JNE(again)
}

// reduced writes r of the next blocks to e, and the powers with their roots to k.
func (s *softmaxing) reduced(from, to, room, n reg.Register) {
	shift := s.Vector()
	s.VBROADCASTSS(s.Place(s.s.Field("shift")), shift)
	parts := s.loaded(s.Table(8, func(i int) int { return int(roots[i%4]) }))
	least, steps := s.Place(s.s.Field("least").Index(0)), s.single(4/math.Ln2)
	away, rest := s.single(0x1.62e430p-3), s.single(-0x1.05c610p-31) // ln 2/4, the first in 2^-23
	chain := func(i int) []func() {
		x, t, k := s.Vector(), s.Vector(), s.Vector()
		return []func(){
			func() { s.VCVTPH2PS(emit.At(from, 16*i), x) },
			func() { s.VMAXPS(least, x, x) },
			func() { s.VMOVAPS(shift, t) },
			func() { s.VFMADD231PS(steps, x, t) },
			func() { s.VSUBPS(shift, t, k) },
			func() { s.VFNMADD231PS(away, k, x) }, // exact
			func() { s.VFNMADD231PS(rest, k, x) },
			func() { s.VMOVUPS(x, emit.At(to, 32*i)) },
			func() { s.VPERMILPS(t, parts, k) },
			func() { s.VPSLLD(Imm(21), t, t) },
			func() { s.VPADDD(t, k, k) },
			func() { s.VMOVUPS(k, emit.At(room, 32*i)) },
		}
	}
	s.Times("reduce", n, func() {
		s.each(chain)
		s.Add(16*step, from)
		s.Add(32*step, to)
		s.Add(32*step, room)
	})
}

// summed replaces r by the exponentials, and adds them to the sum, which is greater, and what it loses.
func (s *softmaxing) summed(at, room, n reg.Register) {
	third, half := s.loaded(s.single(0x1.555558p-3)), s.loaded(s.single(0x1.fffffep-2))
	chain := func(i int) []func() {
		r, p, k, t, z := s.Vector(), s.Vector(), s.Vector(), s.Vector(), s.Vector()
		return []func(){
			func() { s.VMOVUPS(emit.At(at, 32*i), r) },
			func() { s.VMOVUPS(s.single(0x1.5573b4p-5), p) },
			func() { s.VFMADD231PS(s.single(0x1.110840p-7), r, p) },
			func() { s.VFMADD213PS(third, r, p) },
			func() { s.VFMADD213PS(half, r, p) },
			func() { s.VMULPS(r, p, p) },
			func() { s.VFMADD213PS(r, r, p) },
			func() { s.VMOVUPS(emit.At(room, 32*i), k) },
			func() { s.VMOVAPS(k, t) },
			func() { s.VFMADD231PS(p, k, t) },
			func() { s.VMOVUPS(t, emit.At(at, 32*i)) },
			func() { // before the other one's addition
				s.VMOVAPS(s.sum, z)
				s.VADDPS(t, s.sum, s.sum)
				s.VSUBPS(z, s.sum, z) // what the sum took
			},
			func() { s.VSUBPS(z, k, z) },
			func() { s.VFMADD231PS(p, k, z) },
			func() { s.VADDPS(z, s.lost, s.lost) },
		}
	}
	s.Times("sum", n, func() {
		s.each(chain)
		s.Add(32*step, at)
		s.Add(32*step, room)
	})
}

// each emits the steps of all vectors.
func (s *softmaxing) each(chain func(i int) []func()) {
	var all [][]func()
	for i := range step {
		all = append(all, chain(i))
	}
	abreast(all...)
}

// total adds up the sums, and sets the ends of the margin of the total's inverse.
func (s *softmaxing) total() {
	d := s.Vectors(2)
	wide := func(v reg.VecVirtual) {
		s.VEXTRACTF128(Imm(1), v, d[1].AsX())
		s.VCVTPS2PD(v.AsX(), d[0])
		s.VCVTPS2PD(d[1].AsX(), d[1])
		s.VADDPD(d[1], d[0], d[0])
	}
	s.VSUBPS(s.single(start), s.sum, s.sum)
	wide(s.lost)
	total := s.Vector()
	s.VMOVAPD(d[0], total)
	wide(s.sum)
	s.VADDPD(d[0], total, total)
	s.VEXTRACTF128(Imm(1), total, d[0].AsX())
	s.VADDPD(d[0].AsX(), total.AsX(), total.AsX())
	s.VHADDPD(total.AsX(), total.AsX(), total.AsX())
	s.VMOVSD(total.AsX(), s.Place(s.s.Field("total")))
	bits := [2]uint64{math.Float64bits(1 - ofShare), math.Float64bits(1 + ofShare)}
	s.VMOVUPD(s.Table(4, func(i int) int { return int(bits[i/2] >> (32 * (i % 2)) & (1<<32 - 1)) }), d[0].AsX())
	s.VDIVPD(total.AsX(), d[0].AsX(), d[0].AsX())
	s.VCVTPD2PSX(d[0].AsX(), d[0].AsX())
	s.VMOVSD(d[0].AsX(), s.Place(s.s.Field("ends").Index(0)))
}

// scale writes the function that multiplies by the ends of a margin.
func (w width) scale() {
	dst, x, ends := w.Whole(w.Param("dst")), w.Whole(w.Param("x")), w.Whole(w.Param("ends"))
	blocks, some, unsure := w.Whole(w.Param("blocks")), w.Fresh("some"), w.Fresh("unsure")
	low, high := w.Vector(), w.Vector()
	w.VBROADCASTSS(emit.At(ends, 0), low)
	w.VBROADCASTSS(emit.At(ends, 4), high)
	w.Here(some)
	v := w.Vectors(4)
	w.ends(emit.At(x, 0), low, high, v)
	w.JNE(unsure)
	w.VMOVDQU(v[0].AsX(), emit.At(dst, 0))
	w.VMOVDQU(v[1].AsX(), emit.At(dst, 16))
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
