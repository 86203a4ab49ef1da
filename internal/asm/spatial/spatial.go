// Package spatial writes the assembly of the software engine's package of that name, all of it for AVX2.
package spatial

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width writes instructions for vectors of 256 bits.
type width struct{ emit.Width }

// kind is what the elements of a plane become.
type kind struct {
	name  string
	size  int // of an element in bytes
	lanes int // columns of a tile
}

var kinds = []kind{{"Floats", 4, 8}, {"Keys", 2, 16}, {"Units", 4, 8}, {"Doubles", 8, 8}}

// Write writes all functions.
func Write(f *emit.File) {
	w := width{emit.Width{File: f, Bits: 256}}
	for _, k := range kinds {
		f.Func("spread"+k.name, "(stride int, s *spreading)", "writes rows of halves into a plane, as its kind has them.")
		for _, stride := range []int{1, 2} {
			f.When("stride", stride, func() { w.spread(k, stride) })
		}
		f.RET()
		f.Func("slide"+k.name, "(s *sliding)", "computes the results of windows over a plane.")
		w.slide(k)
	}
	f.Func("sumLanes", "(sums *float64, x *uint16, keep *[8]uint16, lanes, rows, pitch, eights int)",
		"sums lanes, each of some rows of halves that are pitch bytes apart.\n"+
			"keep are the bits of a row's elements after the last eight.")
	w.sumLanes()
	f.Func("quotients", "(dst *uint16, a *float64, divisor float64, eights int)", "sets dst to a divided by divisor.")
	w.quotients()
	f.Func("mixLines", "(dst *uint16, a, b *float64, first, second float64, eights int)",
		"sets dst to a times first plus b times second.")
	w.mixLines()
	f.Func("repeatEach", "(r *repeating)",
		"writes elements one after another, each for some columns, and up to 15 more.")
	w.repeatEach()
}

// repeatEach writes the function that repeats elements.
func (w width) repeatEach() {
	r, last := w.Dereference(w.Param("r")), w.GP64()
	dst, src, width := w.Whole(r.Field("dst")), w.Whole(r.Field("src")), w.Whole(r.Field("width"))
	w.SHLQ(Imm(1), width)
	w.Times("row", w.Whole(r.Field("rows")), func() {
		v := w.Vector()
		w.VPBROADCASTW(emit.At(src, 0), v)
		w.Add(2, src)
		w.XORQ(last, last)
		some := w.Fresh("some")
		w.Here(some)
		w.VMOVDQU(v, Mem{Base: dst, Index: last, Scale: 1})
		w.Add(32, last)
		w.CMPQ(last, width)
		w.JLT(some)
		w.ADDQ(width, dst)
	})
	w.End()
}

// spread writes a function that takes 16 halves of a row at a time, or 8 of one phase.
func (w width) spread(k kind, stride int) {
	s := w.Dereference(w.Param("s"))
	x, room, rows := w.Whole(s.Field("x")), w.Whole(s.Field("room")), w.GP64()
	w.ADDQ(w.Place(s.Field("at")), room)
	other := w.Whole(s.Field("other"))
	put := &putting{width: w, kind: k, stride: stride, other: other, s: s}
	v := w.Vector()
	put.prepare()
	in, out, n := w.GP64(), w.GP64(), w.GP64()
	plane, row := w.Fresh("plane"), w.Fresh("row")
	w.Here(plane)
	w.MOVQ(w.Place(s.Field("rows")), rows)
	w.Here(row)
	w.MOVQ(x, in)
	w.MOVQ(room, out)
	w.MOVQ(w.Place(s.Field("whole")), n)
	tail, next := w.Fresh("tail"), w.Fresh("next")
	w.TESTQ(n, n)
	w.JEQ(tail)
	w.Times("chunk", n, func() {
		put.load(in, v)
		put.store(v, out)
		w.Add(2*put.lanes(), in)
		w.Add(put.lanes()/stride*k.size, out)
	})
	w.Here(tail)
	w.CMPQ(w.Place(s.Field("rest")), Imm(0))
	w.JEQ(next)
	put.load(in, v)
	w.VPAND(w.Place(s.Field("keep").Index(0)), put.part(v), put.part(v))
	w.VPOR(w.Place(s.Field("pad").Index(0)), put.part(v), put.part(v))
	put.store(v, out)
	w.Here(next)
	w.ADDQ(w.Place(s.Field("from")), x)
	w.ADDQ(w.Place(s.Field("pitch")), room)
	w.DECQ(rows)
	w.JNE(row)
	w.ADDQ(w.Place(s.Field("gap")), room)
	w.DECQ(w.Place(s.Field("planes")))
	w.JNE(plane)
	if put.limited() {
		w.VPTEST(put.wrong, put.wrong)
		w.SETNE(w.Place(s.Field("beyond")))
	}
	w.End()
}

// putting decodes some halves of a row and stores them.
type putting struct {
	width
	kind
	s                 gotypes.Component // the argument
	stride            int
	other             reg.Register
	words, top, wrong reg.VecVirtual // of magnitudes
	order             reg.VecVirtual // of two phases
	unit              reg.VecVirtual
}

// limited reports whether the kind looks for elements beyond a limit.
func (p *putting) limited() bool { return p.name == "Keys" || p.name == "Units" }

// lanes is how many halves there are.
func (p *putting) lanes() int {
	if p.stride == 1 && p.name != "Keys" {
		return 8
	}
	return 16
}

// part is the part of a register that they take.
func (p *putting) part(v reg.VecVirtual) reg.Register {
	if p.lanes() == 8 {
		return v.AsX()
	}
	return v.AsY()
}

func (p *putting) prepare() {
	if p.limited() {
		p.words, p.top, p.wrong = p.Constant(0x7fff7fff), p.Vector(), p.Zero()
		p.VPBROADCASTW(p.Place(p.s.Field("limit")), p.top)
	}
	if p.name == "Units" {
		p.unit = p.Constant(0x4b800000) // 2^24
	}
	if p.stride == 2 {
		p.order = p.Vector()
		p.VBROADCASTI128(p.Bytes(16, func(i int) int { return i%8/2*4 + i%2 + i/8*2 }), p.order)
	}
}

func (p *putting) load(from reg.Register, v reg.VecVirtual) { p.VMOVDQU(emit.At(from, 0), p.part(v)) }

// key exchanges halves and integers of their order.
func (w width) key(v, words reg.VecVirtual) {
	t := w.Vector()
	w.VPSRAW(Imm(15), v, t)
	w.VPAND(words, t, t)
	w.VPXOR(t, v, v)
}

func (p *putting) store(v reg.VecVirtual, to reg.Register) {
	if p.limited() {
		t := p.Vector()
		p.VPAND(p.part(p.words), p.part(v), p.part(t))
		p.VPCMPGTW(p.part(p.top), p.part(t), p.part(t))
		p.VPOR(t, p.wrong, p.wrong)
	}
	if p.name == "Keys" {
		p.key(v, p.words)
	}
	if p.stride == 1 {
		p.decoded(v, emit.At(to, 0))
		return
	}
	p.VPSHUFB(p.order, v, v)
	p.VPERMQ(Imm(0xd8), v, v)
	second := p.Vector()
	if p.name == "Keys" {
		p.VMOVDQU(v.AsX(), emit.At(to, 0))
		p.VEXTRACTI128(Imm(1), v, emit.At(to, 0).Idx(p.other, 1))
		return
	}
	p.VEXTRACTI128(Imm(1), v, second.AsX())
	p.decoded(v, emit.At(to, 0))
	p.decoded(second, emit.At(to, 0).Idx(p.other, 1))
}

// decoded stores what a register has, 16 keys or 8 halves as numbers.
func (p *putting) decoded(v reg.VecVirtual, to Mem) {
	switch p.name {
	case "Keys":
		p.VMOVDQU(v, to)
	case "Floats", "Units":
		f := p.Vector()
		p.VCVTPH2PS(v.AsX(), f)
		if p.name == "Units" {
			p.VMULPS(p.unit, f, f)
			p.VCVTPS2DQ(f, f)
		}
		p.VMOVUPS(f, to)
	default:
		low, high := p.wide(v)
		p.VMOVUPD(low, to)
		p.VMOVUPD(high, to.Offset(32))
	}
}

// wide decodes 8 halves to float64.
func (w width) wide(v reg.VecVirtual) (low, high reg.VecVirtual) {
	f, high := w.Vector(), w.Vector()
	low = w.Vector()
	w.VCVTPH2PS(v.AsX(), f)
	w.VEXTRACTF128(Imm(1), f, high.AsX())
	w.VCVTPS2PD(f.AsX(), low)
	w.VCVTPS2PD(high.AsX(), high)
	return low, high
}

// sumLanes writes the function that sums lanes.
func (w width) sumLanes() {
	sums, x, keep := w.Whole(w.Param("sums")), w.Whole(w.Param("x")), w.Vector()
	keeps := w.Whole(w.Param("keep"))
	w.VMOVDQU(emit.At(keeps, 0), keep.AsX())
	in, n, pitch, rows := w.GP64(), w.GP64(), w.Whole(w.Param("pitch")), w.GP64()
	v := w.Vector()
	w.Times("lane", w.Whole(w.Param("lanes")), func() {
		low, high := w.Zero(), w.Zero()
		add := func() {
			a, b := w.wide(v)
			w.VADDPD(a, low, low)
			w.VADDPD(b, high, high)
		}
		w.Load(w.Param("rows"), rows)
		w.Times("row", rows, func() {
			w.MOVQ(x, in)
			w.Load(w.Param("eights"), n)
			tail := w.Fresh("tail")
			w.TESTQ(n, n)
			w.JEQ(tail)
			w.Times("eight", n, func() {
				w.VMOVDQU(emit.At(in, 0), v.AsX())
				w.Add(16, in)
				add()
			})
			w.Here(tail)
			w.VPAND(emit.At(in, 0), keep.AsX(), v.AsX())
			add()
			w.ADDQ(pitch, x)
		})
		w.VADDPD(high, low, low)
		w.VEXTRACTF128(Imm(1), low, high.AsX())
		w.VADDPD(high.AsX(), low.AsX(), low.AsX())
		w.VHADDPD(low.AsX(), low.AsX(), low.AsX())
		w.VMOVSD(low.AsX(), emit.At(sums, 0))
		w.Add(8, sums)
	})
	w.End()
}

// quotients writes the function that divides sums.
func (w width) quotients() {
	dst, a, divisor, dropped := w.Whole(w.Param("dst")), w.Whole(w.Param("a")), w.Vector(), w.mask()
	w.VBROADCASTSD(w.Place(w.Param("divisor")), divisor)
	w.Times("eight", w.Whole(w.Param("eights")), func() {
		low, high := w.Vector(), w.Vector()
		w.VMOVUPD(emit.At(a, 0), low)
		w.VMOVUPD(emit.At(a, 32), high)
		w.VDIVPD(divisor, low, low)
		w.VDIVPD(divisor, high, high)
		w.rounded(low, high, dropped, dropped, emit.At(dst, 0))
		w.Add(64, a)
		w.Add(16, dst)
	})
	w.End()
}

// odd rounds float64 to the digits of float32 so that numbers with a bit of sticky set have an odd last bit.
func (w width) odd(v, sticky, dropped reg.VecVirtual) {
	t := w.Vector()
	w.VPAND(sticky, v, t)
	w.VPADDQ(sticky, t, t)
	w.VPOR(t, v, v)
	w.VPANDN(v, dropped, v)
}

// rounded rounds 8 numbers to halves, once.
func (w width) rounded(low, high, sticky, dropped reg.VecVirtual, to Mem) {
	w.odd(low, sticky, dropped)
	w.odd(high, sticky, dropped)
	f, second := w.Vector(), w.Vector()
	w.VCVTPD2PSY(low, f.AsX())
	w.VCVTPD2PSY(high, second.AsX())
	w.VINSERTF128(Imm(1), second.AsX(), f, f)
	w.VCVTPS2PH(Imm(0), f, to)
}

// mask is the bits that float64 has more than float32.
func (w width) mask() reg.VecVirtual {
	r := w.Vector()
	w.VPCMPEQD(r, r, r)
	w.VPSRLQ(Imm(64-29), r, r)
	return r
}

// mixLines writes the function that interpolates between lines.
func (w width) mixLines() {
	dst, a, b := w.Whole(w.Param("dst")), w.Whole(w.Param("a")), w.Whole(w.Param("b"))
	first, second, dropped := w.Vector(), w.Vector(), w.mask()
	w.VBROADCASTSD(w.Place(w.Param("first")), first)
	w.VBROADCASTSD(w.Place(w.Param("second")), second)
	w.Times("eight", w.Whole(w.Param("eights")), func() {
		of := func(bytes int) reg.VecVirtual {
			x, y := w.Vector(), w.Vector()
			w.VMULPD(emit.At(a, bytes), first, x)
			w.VMULPD(emit.At(b, bytes), second, y)
			w.VADDPD(y, x, x)
			return x
		}
		w.rounded(of(0), of(32), dropped, dropped, emit.At(dst, 0))
		w.Add(64, a)
		w.Add(64, b)
		w.Add(16, dst)
	})
	w.End()
}
