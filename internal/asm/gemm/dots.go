package gemm

import (
	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots adds the products of some vectors with pairs of rows of halves, each in eight sums, to sums.
func (w width) dots(vectors int) {
	sums, by, x := w.Whole(w.Param("sums")), w.Whole(w.Param("by")), w.Whole(w.Param("x"))
	row, from, stride := w.Whole(w.Param("rows")), w.Whole(w.Param("from")), w.Whole(w.Param("stride"))
	w.SHLQ(Imm(2), by)
	w.SHLQ(Imm(2), stride)
	w.SHLQ(Imm(1), from)
	left := tile{width: w, rows: vectors}.from(x, stride)
	to := tile{width: w, rows: vectors}.from(sums, by)
	w.Times("pair", w.Whole(w.Param("pairs")), func() {
		products := make([]reg.VecVirtual, 2*vectors)
		for i := range products {
			products[i] = w.Zero()
		}
		at, done := w.GP64(), w.GP64()
		w.MOVQ(row, at)
		w.XORQ(done, done)
		w.Times("piece", w.Whole(w.Param("pieces")), func() {
			w.PREFETCHT0(Mem{Base: at, Index: from, Scale: 2})
			w.PREFETCHT0(Mem{Base: at, Index: from, Scale: 2, Disp: 64})
			for i := range 4 {
				weights := w.Vectors(2)
				w.VCVTPH2PS(emit.At(at, 16*i), weights[0])
				w.VCVTPH2PS(Mem{Base: at, Index: from, Scale: 1, Disp: 16 * i}, weights[1])
				for v := range vectors {
					some := w.Vector()
					w.VMOVUPS(left.at(v, 32*i), some)
					for j, r := range weights {
						w.VFMADD231PS(some, r, products[2*v+j])
					}
				}
			}
			w.Add(64, at)
			for _, p := range left.each {
				w.Add(128, p)
			}
			w.Add(128, done)
		})
		for _, p := range left.each {
			w.SUBQ(done, p)
		}
		for v := 0; v < vectors; v += 2 { // the eight sums of two rows for two vectors become one each
			low, high := products[2*v], products[2*v+1]
			w.VHADDPS(high, low, low)
			other := low
			if v+1 < vectors {
				other = products[2*v+2]
				w.VHADDPS(products[2*v+3], other, other)
			}
			w.VHADDPS(other, low, low)
			half, had := w.XMM(), w.XMM()
			w.VEXTRACTF128(Imm(1), low, half)
			w.VADDPS(half, low.AsX(), half)
			w.VMOVSD(to.at(v, 0), had)
			if v+1 < vectors {
				w.VMOVHPS(to.at(v+1, 0), had, had)
			}
			w.VADDPS(had, half, half)
			w.VMOVSD(half, to.at(v, 0))
			if v+1 < vectors {
				w.VMOVHPS(half, to.at(v+1, 0))
			}
		}
		for _, p := range to.each {
			w.Add(8, p)
		}
		w.LEAQ(Mem{Base: row, Index: from, Scale: 2}, row)
	})
	w.End()
}
