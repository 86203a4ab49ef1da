package spatial

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileRows is the rows of a tile of results.
const tileRows = 4

// slide writes the function of a kind. A tile has 4 rows and as many columns as a vector. The last tiles of rows and
// columns overlap those before them.
func (w width) slide(k kind) {
	if k.name == "Floats" {
		w.rollAll()
	}
	s := w.Dereference(w.Param("s"))
	t := &tiled{width: w, kind: k, s: s}
	room, dst, high := w.Whole(s.Field("room")), w.Whole(s.Field("dst")), w.Whole(s.Field("high"))
	w.ADDQ(w.Place(s.Field("at")), room)
	offsets := w.Whole(s.Field("offsets"))
	t.high, t.high3 = high, w.GP64()
	w.LEAQ(Mem{Base: high, Index: high, Scale: 2}, t.high3)
	t.prepare()
	row, plane := w.GP64(), w.Fresh("plane")
	w.Here(plane)
	w.XORQ(row, row)
	rows, columns, done := w.Fresh("rows"), w.Fresh("columns"), w.Fresh("done")
	column, base, at, i := w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.Here(rows)
	w.XORQ(column, column)
	w.Here(columns)
	w.LEAQ(Mem{Base: room, Index: column, Scale: uint8(k.size)}, base)
	t.begin()
	w.XORQ(i, i)
	tap := w.Fresh("tap")
	w.Here(tap)
	w.MOVQ(Mem{Base: offsets, Index: i, Scale: 8}, at)
	w.ADDQ(base, at)
	t.tap(at, i)
	w.INCQ(i)
	w.CMPQ(i, w.Place(s.Field("taps")))
	w.JNE(tap)
	t.end(dst, row, column)
	w.advance(column, k.lanes, s.Field("lastColumn"), columns)

	before := w.GP64()
	w.MOVQ(row, before)
	w.CMPQ(row, w.Place(s.Field("lastRow")))
	w.JEQ(done)
	w.Add(tileRows, row)
	w.CMPQ(row, w.Place(s.Field("lastRow")))
	w.CMOVQGT(w.Place(s.Field("lastRow")), row)
	w.NEGQ(before)
	w.ADDQ(row, before)
	by := w.GP64()
	w.MOVQ(high, by)
	w.IMULQ(before, by)
	w.ADDQ(by, room)
	w.IMULQ(w.Place(s.Field("to")), before)
	w.ADDQ(before, dst)
	w.JMP(rows)
	w.Here(done)
	w.ADDQ(w.Place(s.Field("nextRoom")), room)
	w.ADDQ(w.Place(s.Field("nextResult")), dst)
	if k.name == "Floats" {
		step := w.Whole(s.Field("taps"))
		w.LEAQ(Mem{Base: t.weights, Index: step, Scale: 4}, t.weights)
		w.Add(4, t.bias)
	}
	w.DECQ(w.Place(s.Field("planes")))
	w.JNE(plane)
	w.End()
}

// advance moves on by a step, to the last place at most, and jumps unless it is there already.
func (w width) advance(at reg.GPVirtual, step int, last gotypes.Component, to LabelRef) {
	end := w.Fresh("end")
	w.CMPQ(at, w.Place(last))
	w.JEQ(end)
	w.Add(step, at)
	w.CMPQ(at, w.Place(last))
	w.CMOVQGT(w.Place(last), at)
	w.JMP(to)
	w.Here(end)
}

// tiled is the results of a tile.
type tiled struct {
	width
	kind
	s           gotypes.Component
	high, high3 reg.Register // the bytes between rows of the plane
	results     []reg.VecVirtual
	weights     reg.Register
	bias        reg.Register
	words       reg.VecVirtual // of keys
	means
}

func (t *tiled) prepare() {
	n := tileRows
	switch t.name {
	case "Floats":
		t.weights, t.bias = t.Whole(t.s.Field("weights")), t.Whole(t.s.Field("bias"))
	case "Keys":
		t.words = t.Constant(0x7fff7fff)
	case "Doubles":
		n = 2 * tileRows
		fallthrough
	default:
		t.dropped, t.sticky, t.four = t.mask(), t.Vector(), t.Vector()
		t.VPCMPEQD(t.four, t.four, t.four)
		t.VPSRLQ(Imm(63), t.four, t.four)
		t.VPSLLQ(Imm(2), t.four, t.four)
		t.VPSRLQ(Imm(3), t.dropped, t.sticky)
		t.VPSLLQ(Imm(3), t.sticky, t.sticky)
	}
	if t.name == "Units" {
		t.less, t.more = t.Constant(0x3f7ffff8), t.Constant(0x3f800004) // 1 less or more 2^-21
		t.unit = t.Vector()
		t.VBROADCASTSD(t.Table(2, func(i int) int { return i * 0x3e700000 }), t.unit) // 2^-24
	}
	t.results = t.Vectors(n)
}

// begin sets the results to those of no element.
func (t *tiled) begin() {
	for _, r := range t.results {
		if t.name == "Keys" {
			t.VPCMPEQW(r, r, r)
			t.VPSLLW(Imm(15), r, r) // less than all keys
			continue
		}
		t.VXORPS(r, r, r)
	}
}

// place is the memory of a row of a tile.
func (t *tiled) place(base reg.Register, i, bytes int) Mem {
	switch m := emit.At(base, bytes); i {
	case 0:
		return m
	case 3:
		return m.Idx(t.high3, 1)
	default:
		return m.Idx(t.high, uint8(i))
	}
}

// tap adds the elements at a register to the results.
func (t *tiled) tap(at, i reg.Register) {
	switch t.name {
	case "Floats":
		weight := t.Vector()
		t.VBROADCASTSS(Mem{Base: t.weights, Index: i, Scale: 4}, weight)
		for j, r := range t.results {
			t.VFMADD231PS(t.place(at, j, 0), weight, r)
		}
	case "Keys":
		for j, r := range t.results {
			t.VPMAXSW(t.place(at, j, 0), r, r)
		}
	case "Units":
		for j, r := range t.results {
			t.VPADDD(t.place(at, j, 0), r, r)
		}
	default:
		for j, r := range t.results {
			t.VADDPD(t.place(at, j/2, j%2*32), r, r)
		}
	}
}

// end stores the results.
func (t *tiled) end(dst, row, column reg.Register) {
	bias, to, at, inverses := t.Vector(), t.GP64(), t.GP64(), t.GP64()
	t.LEAQ(Mem{Base: dst, Index: column, Scale: 2}, at)
	t.MOVQ(t.Place(t.s.Field("to")), to)
	switch t.name {
	case "Floats":
		t.VBROADCASTSS(emit.At(t.bias, 0), bias)
	case "Units", "Doubles":
		t.MOVQ(t.Place(t.s.Field("ofRow")), inverses)
		t.LEAQ(Mem{Base: inverses, Index: row, Scale: 8}, inverses)
	}
	for i := range tileRows {
		switch t.name {
		case "Floats":
			t.VADDPS(bias, t.results[i], t.results[i])
			t.VCVTPS2PH(Imm(0), t.results[i], emit.At(at, 0))
		case "Keys":
			t.key(t.results[i], t.words)
			t.VMOVDQU(t.results[i], emit.At(at, 0))
		default:
			n := t.GP64()
			t.MOVQ(emit.At(inverses, 8*i), n)
			t.ADDQ(column, n)
			t.mean(i, n, emit.At(at, 0))
		}
		t.ADDQ(to, at)
	}
}

// means are the constants of avg_pool.
type means struct {
	dropped, sticky, four reg.VecVirtual
	less, more, unit      reg.VecVirtual
}

// mean stores a row of means. n is the place of its inverses. Those of Units are 2^-24 of the products of integers and
// inverses. In float32 a product errs by less than 2^-22 of itself: where that decides, it is one in float64.
func (t *tiled) mean(row int, n reg.Register, to Mem) {
	base := t.GP64()
	t.MOVQ(t.Place(t.s.Field("inverses")), base)
	wide := Mem{Base: base, Index: n, Scale: 8}
	if t.name == "Doubles" {
		t.quotients(t.results[2*row], t.results[2*row+1], wide, to)
		return
	}
	sums, f, low := t.results[row], t.Vector(), t.Vector()
	short := t.GP64()
	t.MOVQ(t.Place(t.s.Field("shorts")), short)
	t.VCVTDQ2PS(sums, f)
	t.VMULPS(Mem{Base: short, Index: n, Scale: 4}, f, f)
	t.VMULPS(t.less, f, low)
	t.VMULPS(t.more, f, f)
	t.VCVTPS2PH(Imm(0), low, low.AsX())
	t.VCVTPS2PH(Imm(0), f, f.AsX())
	t.VMOVDQU(low.AsX(), to)
	t.VPXOR(f.AsX(), low.AsX(), low.AsX())
	t.VPTEST(low.AsX(), low.AsX())
	sure := t.Fresh("sure")
	t.JEQ(sure)
	first, second := t.Vector(), t.Vector()
	t.VEXTRACTI128(Imm(1), sums, second.AsX())
	t.VCVTDQ2PD(sums.AsX(), first)
	t.VCVTDQ2PD(second.AsX(), second)
	t.VMULPD(t.unit, first, first)
	t.VMULPD(t.unit, second, second)
	t.quotients(first, second, wide, to)
	t.Here(sure)
}

// quotients stores 8 sums by their counts. The product with an inverse errs by less than 2^-51 of itself. It is rounded
// by 3 bits, to the quotient where that has fewer.
func (t *tiled) quotients(first, second reg.VecVirtual, inverses, to Mem) {
	for i, sum := range []reg.VecVirtual{first, second} {
		t.VMULPD(inverses.Offset(32*i), sum, sum)
		t.VPADDQ(t.four, sum, sum)
	}
	t.rounded(first, second, t.sticky, t.dropped, to)
}
