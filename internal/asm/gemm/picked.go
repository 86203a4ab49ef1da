package gemm

import (
	"fmt"

	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writePicked writes the functions for products of elements that are anywhere.
func (w width) writePicked() {
	for i, name := range []string{"pickedTile", "pickedHalf"} {
		vectors := 2 - i
		w.Func(name, "(rows int, c, x *float32, at, by *int32, b *float32, n, depth, tiles int, add bool)", fmt.Sprintf(
			`multiplies 1 to %d rows of A by %d columns of depth rows of a strip, and as many rows after them until there are
tiles. Element (i, j) of A is x[at[i]+by[j]]. n is the distance between rows of C. Sums begin with C if add is set, else
with +0.`, pickedRows, 8*vectors))
		for rows := pickedRows; rows > 0; rows-- {
			w.When("rows", rows, tile{w, rows, vectors}.picked)
		}
		w.RET()
	}
	w.Func("decodeLines", "(dst *float32, src, keep *half, rows, eights, last, to, from int)",
		`decodes rows of eights and eight more elements, of which the first is the last-th and those that are not kept become 0. Rows
are to floats apart, and before that from elements.`)
	w.decodeLines()
	w.Func("pickSixes", "(dst *float32, src *half, rows, from int)",
		"decodes 8 elements of each row, from elements apart, as rows that are 6 floats apart.")
	w.sixes()
	w.Func("turnEights", "(dst, src *float32, columns, rows, to, from int)",
		`writes columns times 8 columns of rows times 8 rows, from floats apart, as rows that are to floats apart.`)
	w.turnEights()
}

// pickedRows is the rows of a tile of picked elements: each takes a register for a pointer.
const pickedRows = 6

// picked is write for a matrix A whose elements are anywhere. What has no register while products are summed changes in
// memory.
func (t tile) picked() {
	c, at, n, tiles := t.Place(t.Param("c")), t.Place(t.Param("at")), t.Place(t.Param("n")), t.Place(t.Param("tiles"))
	t.SHLQ(Imm(2), n)
	again := t.Fresh("tile")
	t.Here(again)
	t.summed(func() lines { return t.from(t.Whole(t.Param("c")), t.Whole(t.Param("n"))) }, func(sums []reg.VecVirtual) {
		x, rows, left := t.Whole(t.Param("x")), t.Whole(t.Param("at")), make([]reg.GPVirtual, t.rows)
		for i := range left {
			left[i] = t.GP64()
			t.MOVLQSX(emit.At(rows, 4*i), left[i])
			t.LEAQ(Mem{Base: x, Index: left[i], Scale: 4}, left[i])
		}
		by, place := t.Whole(t.Param("by")), t.GP64()
		t.products(sums, factors{
			begin: func(u int) { t.MOVLQSX(emit.At(by, 4*u), place) },
			at:    func(i, _ int) Mem { return Mem{Base: left[i], Index: place, Scale: 4} },
			next:  func(count int) { t.Add(4*count, by) },
			later: true,
		})
	})
	t.ADDQ(Imm(uint64(4*t.rows)), at)
	step := t.Whole(t.Param("n"))
	t.IMUL3Q(Imm(uint64(t.rows)), step, step)
	t.ADDQ(step, c)
	t.DECQ(tiles)
	t.JNE(again)
	t.End()
}

func (w width) decodeLines() {
	dst, src, last := w.Whole(w.Param("dst")), w.Whole(w.Param("src")), w.Whole(w.Param("last"))
	to, from, keep, mask := w.Whole(w.Param("to")), w.Whole(w.Param("from")), w.Whole(w.Param("keep")), w.XMM()
	w.SHLQ(Imm(2), to)
	w.SHLQ(Imm(1), from)
	w.VMOVDQU(emit.At(keep, 0), mask)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		row, at, eights, whole := w.GP64(), w.GP64(), w.Whole(w.Param("eights")), w.Fresh("last")
		w.MOVQ(dst, row)
		w.MOVQ(src, at)
		w.TESTQ(eights, eights)
		w.JEQ(whole)
		w.Times("eight", eights, func() {
			r := w.Vector()
			w.VCVTPH2PS(emit.At(at, 0), r)
			w.VMOVUPS(r, emit.At(row, 0))
			w.Add(16, at)
			w.Add(32, row)
		})
		w.Here(whole)
		bits, r := w.XMM(), w.Vector()
		w.VPAND(Mem{Base: src, Index: last, Scale: 2}, mask, bits)
		w.VCVTPH2PS(bits, r)
		w.VMOVUPS(r, Mem{Base: dst, Index: last, Scale: 4})
		w.ADDQ(to, dst)
		w.ADDQ(from, src)
	})
	w.End()
}

func (w width) sixes() {
	dst, src, from := w.Whole(w.Param("dst")), w.Whole(w.Param("src")), w.Whole(w.Param("from"))
	w.SHLQ(Imm(1), from)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		r := w.Vector()
		w.VCVTPH2PS(emit.At(src, 0), r)
		w.VMOVUPS(r, emit.At(dst, 0))
		w.Add(24, dst)
		w.ADDQ(from, src)
	})
	w.End()
}

// turnEights transposes 8 by 8 elements at a time.
func (w width) turnEights() {
	dst, src := w.Whole(w.Param("dst")), w.Whole(w.Param("src"))
	to, from := w.Whole(w.Param("to")), w.Whole(w.Param("from"))
	w.SHLQ(Imm(2), to)
	w.SHLQ(Imm(2), from)
	t := tile{width: w, rows: 8}
	w.Times("column", w.Whole(w.Param("columns")), func() {
		down, right := w.GP64(), w.GP64()
		w.MOVQ(src, down)
		w.MOVQ(dst, right)
		w.Times("row", w.Whole(w.Param("rows")), func() {
			r, left := w.Vectors(8), t.from(down, from)
			for i := range r { // of elements i and i+4 of each half of a vector, the latter of a row four below
				w.VMOVUPS(left.at(i%4, i/4*16), r[i].AsX())
				w.VINSERTF128(Imm(1), left.at(i%4+4, i/4*16), r[i], r[i])
			}
			into := t.from(right, to)
			for half := range 2 {
				a, pairs := r[4*half:], w.Vectors(4)
				w.VUNPCKLPS(a[1], a[0], pairs[0])
				w.VUNPCKHPS(a[1], a[0], pairs[1])
				w.VUNPCKLPS(a[3], a[2], pairs[2])
				w.VUNPCKHPS(a[3], a[2], pairs[3])
				for i := range 4 {
					f := w.Vector()
					w.VSHUFPS(Imm([]uint64{0x44, 0xee}[i%2]), pairs[i/2+2], pairs[i/2], f)
					w.VMOVUPS(f, into.at(4*half+i, 0))
				}
			}
			w.Add(32, right)
			w.LEAQ(Mem{Base: down, Index: from, Scale: 8}, down)
		})
		w.Add(32, src)
		w.LEAQ(Mem{Base: dst, Index: to, Scale: 8}, dst)
	})
	w.End()
}
