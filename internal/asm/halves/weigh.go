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

// weigh writes the function of a kind. e^d is 2^m * e^r with m = d/ln 2, rounded. The odd and the even terms of four
// series are eight chains: so many begin before the first one goes on. They share a constant once it is loaded.
// Powers, rests r, and what is known of remote ones wait in memory.
func (w width) weigh(kind int, local Mem) {
	s := w.Dereference(w.Param("w"))
	sums := w.Place(s.Field("sums").Index(0))
	scores, mask, left := w.Whole(w.Param("scores")), w.Whole(w.Param("mask")), w.Whole(w.Param("sixteens"))
	aligned := w.GP64() // a vector in two lines of the cache takes long
	w.LEAQ(local, aligned)
	w.Add(31, aligned)
	w.ANDQ(I32(-32), aligned)
	powers, rests, remote := emit.At(aligned, 0), emit.At(aligned, 128), emit.At(aligned, 256)
	total := w.loaded(sums)
	each := func(step func(i int)) {
		for i := range 4 {
			step(i)
		}
	}
	again, leave := w.Fresh("sixteen"), w.Fresh("leave")
	w.Here(again)
	d, t, q := w.Vectors(4), w.Vectors(4), w.Vectors(4)
	scale, minusTop := w.loaded(w.Place(s.Field("scale").Index(0))), w.loaded(w.Place(s.Field("minusTop").Index(0)))
	each(func(i int) { w.VCVTPS2PD(emit.At(scores, 16*i), d[i]) })
	if kind == 2 {
		each(func(i int) { w.VCVTPS2PD(emit.At(mask, 16*i), t[i]) })
		each(func(i int) { w.VMULPD(scale, d[i], d[i]) })
		each(func(i int) { w.VADDPD(t[i], d[i], d[i]) })
		each(func(i int) { w.VADDPD(minusTop, d[i], d[i]) })
	} else {
		each(func(i int) { w.VFMADD213PD(minusTop, scale, d[i]) })
	}
	if kind > 0 {
		least := w.loaded(w.double(farthest))
		each(func(i int) { w.VMAXPD(d[i], least, d[i]) }) // NaN stays
		each(func(i int) { w.VADDPD(w.double(-around), d[i], t[i]) })
		each(func(i int) { w.VANDPD(w.Table(8, func(i int) int { return 1<<32 - 1 - 1<<31*(i%2) }), t[i], t[i]) })
		w.VMINPD(t[1], t[0], t[0])
		w.VMINPD(t[3], t[2], t[2])
		w.VMINPD(t[2], t[0], t[0])
		w.VMOVUPD(t[0], remote)
	}
	shift, inverse := w.loaded(w.double(0x1.8p52)), w.loaded(w.double(0x1.71547652b82fep+0))
	each(func(i int) { w.VMOVAPD(shift, t[i]) })
	each(func(i int) { w.VFMADD231PD(inverse, d[i], t[i]) })
	each(func(i int) { w.VSUBPD(shift, t[i], q[i]) })
	each(func(i int) { w.VPSLLQ(Imm(52), t[i], t[i]) })
	each(func(i int) { w.VMOVUPD(t[i], powers.Offset(32*i)) })
	away := w.loaded(w.double(0x1.62e42fefa39efp-1))
	each(func(i int) { w.VFNMADD231PD(away, q[i], d[i]) })
	each(func(i int) { w.VMULPD(d[i], d[i], q[i]) })
	each(func(i int) { w.VMOVUPD(d[i], rests.Offset(32*i)) })
	odd, p := w.Vectors(4), w.Vectors(4)
	term := func(k int, f func(c reg.VecVirtual, i int)) {
		c := w.loaded(w.double(series[k]))
		each(func(i int) { f(c, i) })
	}
	term(1, func(c reg.VecVirtual, i int) { w.VMOVAPD(c, odd[i]) })
	term(0, func(c reg.VecVirtual, i int) { w.VMOVAPD(c, p[i]) })
	for k := 2; k < len(series); k++ {
		sum := [][]reg.VecVirtual{p, odd}[k%2]
		term(k, func(c reg.VecVirtual, i int) { w.VFMADD213PD(c, q[i], sum[i]) })
	}
	each(func(i int) { w.VFMADD231PD(rests.Offset(32*i), odd[i], p[i]) })
	each(func(i int) { w.VPADDQ(powers.Offset(32*i), p[i], p[i]) })
	each(func(i int) { w.VCVTPD2PSY(p[i], q[i].AsX()) })

	sum, more, low, limit := w.Vector(), w.Vector(), w.Vectors(2), w.Vector()
	w.VADDPD(p[1], p[0], sum)
	w.VADDPD(p[3], p[2], more)
	w.VADDPD(more, sum, sum)
	for i, v := range low {
		w.VSHUFPS(Imm(0x88), p[2*i+1], p[2*i], v)
		w.VPSLLD(Imm(3), v, v)
		w.VPADDD(w.Table(8, func(int) int { return -(1<<28 - dropped) * 8 & (1<<32 - 1) }), v, v)
	}
	w.VPMINUD(low[1], low[0], low[0])
	w.VPMINUD(w.Table(8, func(int) int { return 16 * dropped }), low[0], limit)
	w.VPCMPEQD(limit, low[0], low[0])
	if kind > 0 {
		w.VMOVUPD(remote, limit)
		w.VCMPPD(Imm(1), w.double(within), limit, limit)
		w.VORPD(limit, low[0], low[0])
	}
	unsure := w.GP32()
	w.VMOVMSKPS(low[0], unsure)
	w.TESTL(unsure, unsure)
	w.JNE(leave)
	each(func(i int) { w.VMOVUPS(q[i].AsX(), emit.At(scores, 16*i)) })
	w.VADDPD(sum, total, total)
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
