package halves

import (
	"math"

	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reach writes the function that looks for the ends of some numbers.
func (w width) reach() {
	ends, from := w.Whole(w.Param("ends")), w.Whole(w.Param("scores"))
	low, high := w.loaded(w.single(float32(math.Inf(1)))), w.loaded(w.single(float32(math.Inf(-1))))
	w.Times("eight", w.Whole(w.Param("eights")), func() {
		v := w.loaded(emit.At(from, 0))
		w.VMINPS(low, v, low) // the second of these where v is NaN
		w.VMAXPS(high, v, high)
		w.Add(32, from)
	})
	for i, v := range []reg.VecVirtual{low, high} {
		fold := []func(...Op){w.VMINPS, w.VMAXPS}[i]
		t := w.XMM()
		w.VEXTRACTF128(Imm(1), v, t)
		fold(t, v.AsX(), v.AsX())
		for _, order := range []uint64{0x0e, 0x01} {
			w.VPERMILPS(Imm(order), v.AsX(), t)
			fold(t, v.AsX(), v.AsX())
		}
		w.VMOVSS(v.AsX(), emit.At(ends, 4*i))
	}
	w.End()
}

// top writes the function that looks for the greatest of scores with a mask.
func (w width) top() {
	top, scores, mask := w.Whole(w.Param("top")), w.Whole(w.Param("scores")), w.Whole(w.Param("mask"))
	most, scale := w.loaded(emit.At(top, 0)), w.Vector()
	w.VBROADCASTSD(w.Place(w.Param("scale")), scale)
	w.Times("four", w.Whole(w.Param("fours")), func() {
		v, more := w.Vector(), w.Vector()
		w.VCVTPS2PD(emit.At(scores, 0), v)
		w.VCVTPS2PD(emit.At(mask, 0), more)
		w.VMULPD(scale, v, v)
		w.VADDPD(more, v, v)
		w.VMAXPD(most, v, most)
		w.Add(16, scores)
		w.Add(16, mask)
	})
	w.VMOVUPD(most, emit.At(top, 0))
	w.End()
}

// Distances beyond farthest count as it, and have the weight 0, as those from around-within on. Those up to
// around+within have weights that are no normal float32s. dropped is the margin of the middle between two float32s, in
// the last bits of a float64: 2^-39 of any.
const (
	farthest, around, within = -110, -95.5, 9.5
	dropped                  = 1 << 14
)

// series are the coefficients of e^r - 1 from the eighth power on, for |r| up to ln 2/2, with an error of 2^-40.1.
var series = []float64{0x1.9ef34ff055822p-16, 0x1.a1a4207e52c8cp-13, 0x1.6c188aaf215d0p-10, 0x1.11108662e023bp-7,
	0x1.5555543084509p-5, 0x1.5555559c57d12p-3, 0x1.0000000064cc3p-1, 0x1.ffffffffdabf8p-1, 1}

// weigh writes the function of a kind. e^d is 2^m * e^r with m = d/ln 2, rounded.
func (w width) weigh(kind int) {
	s := w.Dereference(w.Param("w"))
	scale, minusTop, sum := w.Place(s.Field("scale").Index(0)), w.Place(s.Field("minusTop").Index(0)), w.Vector()
	dst, scores, mask := w.Whole(w.Param("dst")), w.Whole(w.Param("scores")), w.Whole(w.Param("mask"))
	w.VMOVUPD(w.Place(s.Field("sums").Index(0)), sum)
	nearest, remote := w.Vector(), w.Vector()
	w.VPCMPEQD(nearest, nearest, nearest)
	if kind > 0 {
		w.VMOVUPD(w.double(within), remote)
	}
	w.Times("sixteen", w.Whole(w.Param("sixteens")), func() {
		var chains [][]func()
		d, t, p := w.Vectors(4), w.Vectors(4), w.Vectors(4)
		for i := range 4 {
			chains = append(chains, w.exponential(kind, d[i], t[i], p[i], remote, exponent{
				emit.At(dst, 16*i), emit.At(scores, 16*i), emit.At(mask, 16*i), scale, minusTop, sum}))
		}
		abreast(chains...)
		for i := range 2 {
			low := t[i]
			w.VSHUFPS(Imm(0x88), p[2*i+1], p[2*i], low)
			w.VPSLLD(Imm(3), low, low)
			w.VPADDD(w.Table(8, func(int) int { return -(1<<28 - dropped) * 8 & (1<<32 - 1) }), low, low)
			w.VPMINUD(low, nearest, nearest)
		}
		w.Add(64, dst)
		w.Add(64, scores)
		if kind == 2 {
			w.Add(64, mask)
		}
	})
	w.VMOVUPD(sum, w.Place(s.Field("sums").Index(0)))
	limit, bad := w.Vector(), w.GP32()
	w.VPMINUD(w.Table(8, func(int) int { return 16 * dropped }), nearest, limit)
	w.VPCMPEQD(limit, nearest, nearest)
	if kind > 0 {
		w.VCMPPD(Imm(1), w.double(within), remote, remote)
		w.VORPD(remote, nearest, nearest)
	}
	w.VMOVMSKPS(nearest, bad)
	wide := w.GP64()
	w.MOVL(bad, wide.As32())
	w.Store(wide, w.ReturnIndex(0))
	w.End()
}

// exponent is where four exponentials go, what they are of, and their sum.
type exponent struct {
	dst, scores, mask, scale, minusTop Mem
	sum                                reg.VecVirtual
}

// exponential are the steps of four exponentials. p has them at last.
func (w width) exponential(kind int, d, t, p, remote reg.VecVirtual, e exponent) (steps []func()) {
	do := func(f func()) { steps = append(steps, f) }
	do(func() { w.VCVTPS2PD(e.scores, d) })
	if kind == 2 {
		do(func() { w.VCVTPS2PD(e.mask, t) })
		do(func() { w.VMULPD(e.scale, d, d) })
		do(func() { w.VADDPD(t, d, d) })
		do(func() { w.VADDPD(e.minusTop, d, d) })
	} else {
		do(func() { w.VMOVUPD(e.scale, t) })
		do(func() { w.VFMADD213PD(e.minusTop, t, d) })
	}
	if kind > 0 {
		do(func() { w.VMOVUPD(w.double(farthest), t) })
		do(func() { w.VMAXPD(d, t, d) }) // NaN stays
		do(func() { w.VADDPD(w.double(-around), d, p) })
		do(func() { w.VANDPD(w.Table(8, func(i int) int { return 1<<32 - 1 - 1<<31*(i%2) }), p, p) })
		do(func() { w.VMINPD(p, remote, remote) })
	}
	shift := w.double(0x1.8p52)
	do(func() { w.VMOVUPD(shift, t) })
	do(func() { w.VFMADD231PD(w.double(0x1.71547652b82fep+0), d, t) })
	do(func() { w.VSUBPD(shift, t, p) })
	do(func() { w.VFNMADD231PD(w.double(0x1.62e42fefa39efp-1), p, d) })
	do(func() { w.VMOVUPD(w.double(series[1]), p) })
	do(func() { w.VFMADD231PD(w.double(series[0]), d, p) })
	for _, c := range series[2:] {
		do(func() { w.VFMADD213PD(w.double(c), d, p) })
	}
	do(func() { w.VPSLLQ(Imm(52), t, t) })
	do(func() { w.VPADDQ(t, p, p) })
	do(func() { w.VADDPD(p, e.sum, e.sum) })
	do(func() { w.VCVTPD2PSY(p, t.AsX()) })
	do(func() { w.VMOVUPS(t.AsX(), e.dst) })
	return steps
}
