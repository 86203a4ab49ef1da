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
	farthest, around, within = -110 / math.Ln2, -95.5 / math.Ln2, 9.5 / math.Ln2 // of powers of 2
	dropped                  = 1 << 14
)

// series are the coefficients of e^r - 1 from the eighth power on, for |r| up to ln 2/2, with an error of 2^-40.1.
var series = []float64{0x1.9ef34ff055822p-16, 0x1.a1a4207e52c8cp-13, 0x1.6c188aaf215d0p-10, 0x1.11108662e023bp-7,
	0x1.5555543084509p-5, 0x1.5555559c57d12p-3, 0x1.0000000064cc3p-1, 0x1.ffffffffdabf8p-1, 1}

// weigh writes the function of a kind. e^d is 2^m * 2^r with m + r = d/ln 2. So scores without a mask multiply once more
// than a series has degrees: additions do the rest, in other units, and all waits in registers.
func (w width) weigh(kind int) {
	s := w.Dereference(w.Param("w"))
	sums := w.Place(s.Field("sums").Index(0))
	scores, mask, left := w.Whole(w.Param("scores")), w.Whole(w.Param("mask")), w.Whole(w.Param("sixteens"))
	total, scale, shift := w.loaded(sums), w.Vector(), w.loaded(w.double(0x1.8p52))
	w.VBROADCASTSD(w.Place(s.Field("scale")), scale)
	again, leave := w.Fresh("sixteen"), w.Fresh("leave")
	each := func(step func(i int)) {
		for i := range 4 {
			step(i)
		}
	}
	w.Here(again)
	r, t, p, minusTop := w.Vectors(4), w.Vectors(4), w.Vectors(4), w.Vector()
	w.VBROADCASTSD(w.Place(s.Field("minusTop")), minusTop)
	each(func(i int) { w.VCVTPS2PD(emit.At(scores, 16*i), r[i]) })
	if kind == 2 {
		each(func(i int) { w.VCVTPS2PD(emit.At(mask, 16*i), t[i]) })
		each(func(i int) { w.VMULPD(scale, r[i], r[i]) })
		each(func(i int) { w.VADDPD(t[i], r[i], r[i]) })
		each(func(i int) { w.VADDPD(minusTop, r[i], r[i]) })
		each(func(i int) { w.VMULPD(w.double(1/math.Ln2), r[i], r[i]) })
	} else {
		each(func(i int) { w.VFMADD213PD(minusTop, scale, r[i]) })
	}
	remote := minusTop
	if kind > 0 {
		w.VMOVUPD(w.double(farthest), p[0])
		each(func(i int) { w.VMAXPD(r[i], p[0], r[i]) }) // NaN stays
		each(func(i int) { w.VADDPD(w.double(-around), r[i], t[i]) })
		each(func(i int) { w.VANDPD(w.Table(8, func(i int) int { return 1<<32 - 1 - 1<<31*(i%2) }), t[i], t[i]) })
		w.VMINPD(t[1], t[0], t[0])
		w.VMINPD(t[3], t[2], t[2])
		w.VMINPD(t[2], t[0], t[0])
		w.VCMPPD(Imm(1), w.double(within), t[0], remote)
	}
	each(func(i int) { w.VADDPD(shift, r[i], t[i]) })
	each(func(i int) { w.VSUBPD(shift, t[i], p[i]) })
	each(func(i int) { w.VSUBPD(p[i], r[i], r[i]) })
	each(func(i int) { w.VPSLLQ(Imm(52), t[i], t[i]) })
	for k, c := range series {
		c := w.double(c * math.Pow(math.Ln2, float64(len(series)-1-k)))
		each(func(i int) {
			if k == 0 {
				w.VMOVUPD(c, p[i])
			} else {
				w.VFMADD213PD(c, r[i], p[i])
			}
		})
	}
	each(func(i int) { w.VPADDQ(t[i], p[i], p[i]) })
	each(func(i int) { w.VCVTPD2PSY(p[i], r[i].AsX()) })

	for i := range 2 {
		w.VSHUFPS(Imm(0x88), p[2*i+1], p[2*i], t[i])
		w.VPSLLD(Imm(3), t[i], t[i])
		w.VPADDD(w.Table(8, func(int) int { return -(1<<28 - dropped) * 8 & (1<<32 - 1) }), t[i], t[i])
	}
	w.VPMINUD(t[1], t[0], t[0])
	w.VPMINUD(w.Table(8, func(int) int { return 16 * dropped }), t[0], t[1])
	w.VPCMPEQD(t[1], t[0], t[0])
	if kind > 0 {
		w.VORPD(remote, t[0], t[0])
	}
	unsure := w.GP32()
	w.VMOVMSKPS(t[0], unsure)
	w.TESTL(unsure, unsure)
	w.JNE(leave)
	each(func(i int) { w.VMOVUPS(r[i].AsX(), emit.At(scores, 16*i)) })
	w.VADDPD(p[1], p[0], p[0])
	w.VADDPD(p[3], p[2], p[2])
	w.VADDPD(p[2], p[0], p[0])
	w.VADDPD(p[0], total, total)
	w.Add(64, scores)
	if kind == 2 {
		w.Add(64, mask)
	}
	w.DECQ(left)
	w.JNE(again)
	w.Here(leave)
	w.VMOVUPD(total, sums)
	w.Store(left, w.ReturnIndex(0))
	w.End()
}
