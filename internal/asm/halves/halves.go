// Package halves writes assembly of the software engine's package of that name, all of it for AVX2.
package halves

import (
	"math"

	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width writes instructions for vectors of 256 bits.
type width struct{ emit.Width }

// Write writes all functions.
func Write(f *emit.File) {
	w := width{emit.Width{File: f, Bits: 256}}
	f.Func("softmaxStep", "(step int, s *softmaxing, row *softmaxRow, rows int) (left int)",
		"computes a step of some rows, until one is left to Go.")
	for i, step := range []func(){w.tops, w.exponentials, w.quotients} {
		f.When("step", i, step)
	}
	f.RET()
	f.Func("quickScale", "(dst *half, x *float32, blocks int, ends *[2]float32) (done int)",
		"returns how many blocks it did before one where the ends differ, or are infinite.")
	w.scale()
	f.Func("reachOf", "(ends *[2]float32, scores *float32, eights int)",
		"finds the least and the greatest, but for NaN.")
	w.reach()
	f.Func("topOf", "(top *[4]float64, scores, mask *float32, fours int, scale float64)",
		"raises four maxima to those of scores, times scale, plus the mask, but for NaN.")
	w.top()
	f.Func("finishRows", "(dst *half, x, more *float32, rows, width, pitch int, low, high float32) (bad int)",
		`rounds rows, adds a number to each, rounds again and limits. The result is 0 unless a sum is NaN.`)
	w.finish()
	f.Func("weigh", "(kind int, scores, mask *float32, sixteens int, w *weighing) (left int)",
		`replaces scores by their exponentials, and adds these to the sums, until the margin does not decide each of
sixteen. Kind 1 is far, kind 2 masked.`)
	for kind := range 3 {
		f.When("kind", kind, func() { w.weigh(kind) })
	}
	f.RET()
}

// single is memory with a float32 in each lane, double with a float64.
func (w width) single(f float32) Mem {
	return w.Table(8, func(int) int { return int(math.Float32bits(f)) })
}

func (w width) double(f float64) Mem {
	b := math.Float64bits(f)
	return w.Table(8, func(i int) int { return int(b >> (32 * (i % 2)) & (1<<32 - 1)) })
}

// loaded is a register with what memory has.
func (w width) loaded(m Mem) reg.VecVirtual {
	r := w.Vector()
	w.VMOVUPS(m, r)
	return r
}

// finish writes the function that rounds sums and limits them. The second operand of maxima and minima counts where
// both are zeros. The last vector of a row overlaps the one before.
func (w width) finish() {
	dst, x, more := w.Whole(w.Param("dst")), w.Whole(w.Param("x")), w.Whole(w.Param("more"))
	width, pitch := w.Whole(w.Param("width")), w.Whole(w.Param("pitch"))
	number, low, high, bad := w.Vector(), w.Vector(), w.Vector(), w.Zero()
	w.VBROADCASTSS(w.Place(w.Param("low")), low)
	w.VBROADCASTSS(w.Place(w.Param("high")), high)
	v, nan, at, last := w.Vector(), w.Vector(), w.GP64(), w.GP64()
	w.LEAQ(emit.At(width, -8), last)
	w.Times("row", w.Whole(w.Param("rows")), func() {
		w.VBROADCASTSS(emit.At(more, 0), number)
		w.XORQ(at, at)
		eight, done := w.Fresh("eight"), w.Fresh("done")
		w.Here(eight)
		w.VMOVUPS(Mem{Base: x, Index: at, Scale: 4}, v)
		w.VCVTPS2PH(Imm(0), v, v.AsX())
		w.VCVTPH2PS(v.AsX(), v)
		w.VADDPS(number, v, v)
		w.VCMPPS(Imm(3), v, v, nan)
		w.VORPS(nan, bad, bad)
		w.VMAXPS(low, v, v)
		w.VMINPS(high, v, v)
		w.VCVTPS2PH(Imm(0), v, Mem{Base: dst, Index: at, Scale: 2})
		w.CMPQ(at, last)
		w.JEQ(done)
		w.Add(8, at)
		w.CMPQ(at, last)
		w.CMOVQGT(last, at)
		w.JMP(eight)
		w.Here(done)
		w.LEAQ(Mem{Base: x, Index: width, Scale: 4}, x)
		w.LEAQ(Mem{Base: dst, Index: pitch, Scale: 2}, dst)
		w.Add(4, more)
	})
	result := w.GP64()
	w.XORQ(result, result)
	w.VMOVMSKPS(bad, result.As32())
	w.Store(result, w.ReturnIndex(0))
	w.End()
}
