package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words makes integers of 16 bits of a vector. Each group has a unit, and the sum of its integers in it.
func (w width) words() {
	f := w.Dereference(w.Param("f"))
	v := vector{w, f, w.Whole(f.Field("x")), w.Constant(0x7fffffff)}
	to, units, sums := w.Whole(f.Field("to")), w.Whole(f.Field("units")), w.Whole(f.Field("sums"))
	greatest := w.XMM()
	w.VXORPS(greatest, greatest, greatest)
	w.MOVB(Imm(1), w.Place(w.Return("steep")))
	steep := w.Fresh("steep")
	w.Times("group", w.Whole(f.Field("groups")), func() {
		e, inverse, bound := v.exponents(greatest, 14)
		w.SUBL(w.Place(f.Field("least")), bound.As32())
		by, unit, small, sum := v.power(inverse, 0), v.power(e, 14), v.power(bound, 0), w.Zero()
		w.Times("piece", w.Whole(f.Field("each")), func() {
			v.flat(small, steep)
			r := w.Vectors(4)
			for i := range r {
				w.VMULPS(emit.At(v.x, 32*i), by, r[i])
				w.VCVTPS2DQ(r[i], r[i])
				w.VPADDD(r[i], sum, sum)
			}
			order := w.Vector()
			w.VBROADCASTI128(w.Place(f.Field("order").Index(0)), order)
			for i := range 2 {
				w.VPACKSSDW(r[2*i+1], r[2*i], r[2*i])
				w.VPERMQ(Imm(0xd8), r[2*i], r[2*i])
				w.VPSHUFB(order, r[2*i], r[2*i])
				w.VMOVDQU(r[2*i], emit.At(to, 32*i))
			}
			w.Add(128, v.x)
			w.Add(64, to)
		})
		total := w.fold(sum, func(t, r reg.Register) { w.VPADDD(t, r, r) })
		w.VCVTDQ2PS(total, total)
		w.VMULSS(unit.AsX(), total, total)
		w.VMOVSS(total, emit.At(sums, 0))
		w.VMOVSS(unit.AsX(), emit.At(units, 0))
		w.Add(4, sums)
		w.Add(4, units)
	})
	most := w.GP32()
	w.VMOVD(greatest, most)
	w.Store(most, w.Return("most"))
	w.MOVB(Imm(0), w.Place(w.Return("steep")))
	w.Here(steep)
	w.End()
}

// panel stores the integers of 16 rows: 32 bits of each row, then the next ones. Spread as bytes, it is 16 bits of each
// row for the first eight rows and then the others: one byte for each, or two for what has two integers.
func (w width) panel(spread int) {
	d := w.Dereference(w.Param("d"))
	to, line, line3 := w.Whole(d.Field("to")), w.Whole(d.Field("line")), w.GP64()
	var fours [4]reg.GPVirtual
	fours[0] = w.Whole(d.Field("data"))
	bytes := w.Fresh("bytes")
	w.TESTQ(fours[0], fours[0])
	w.JNE(bytes)
	w.Load(d.Field("floats"), fours[0])
	w.Here(bytes)
	for i := range fours[1:] {
		fours[i+1] = w.GP64()
		w.LEAQ(Mem{Base: fours[i], Index: line, Scale: 4}, fours[i+1])
	}
	w.LEAQ(Mem{Base: line, Index: line, Scale: 2}, line3)
	flip := w.Vector()
	w.VPBROADCASTD(w.Place(d.Field("flip")), flip)
	w.Times("step", w.Whole(d.Field("steps")), func() {
		for half := range 2 {
			r, pairs := w.Vectors(4), w.Vectors(4)
			for i := range r {
				w.VMOVDQU(row(fours[2*half], line, line3, i, 0), r[i].AsX())
				w.VINSERTI128(Imm(1), row(fours[2*half+1], line, line3, i, 0), r[i], r[i])
				w.VPXOR(flip, r[i], r[i])
			}
			for i := range 2 {
				w.VPUNPCKLDQ(r[2*i+1], r[2*i], pairs[i])
				w.VPUNPCKHDQ(r[2*i+1], r[2*i], pairs[2+i])
			}
			for i := range 2 {
				w.VPUNPCKLQDQ(pairs[2*i+1], pairs[2*i], r[2*i])
				w.VPUNPCKHQDQ(pairs[2*i+1], pairs[2*i], r[2*i+1])
			}
			for i := range r {
				if spread == 0 {
					w.VMOVDQU(r[i], emit.At(to, 64*i+32*half))
				}
				for part := range spread {
					w.spread(r[i], part, 2-spread, emit.At(to, 64*(spread*i+part)+16*half))
				}
			}
		}
		for _, four := range fours {
			w.Add(16, four)
		}
		w.Add(256*max(spread, 1), to)
	})
	w.End()
}

// spread stores the bytes of eight rows of 32 bits, or those of the integers of a part of each byte.
func (w width) spread(r reg.VecVirtual, part, whole int, m Mem) {
	b := w.Vector()
	w.VPSRLW(Imm(uint64(4*part)), r, b)
	if whole == 0 {
		w.VPAND(w.Table(8, func(int) int { return 0x0f0f0f0f }), b, b)
	}
	w.VPSHUFB(w.Bytes(32, func(i int) int { return i%2 + i/2%4*4 + i/8%2*2 }), b, b)
	w.VPERMQ(Imm(0xd8), b, b)
	w.VMOVDQU(b.AsX(), m)
	w.VEXTRACTI128(Imm(1), b, m.Offset(32))
}

// tile adds the products of 16 rows of a panel with some vectors of words to sums. The panel has integers of some bits,
// or bytes that are spread.
func (w width) tile(integers, vectors int) {
	d := w.Dereference(w.Param("d"))
	panel, scale, x := w.Whole(d.Field("panel")), w.Whole(d.Field("scale")), w.Whole(d.Field("x"))
	units, means, sums := w.Whole(d.Field("units")), w.Whole(d.Field("means")), w.Whole(d.Field("sums"))
	line, line3 := w.Whole(d.Field("line")), w.GP64()
	w.LEAQ(Mem{Base: line, Index: line, Scale: 2}, line3)
	ahead, fetched := w.Whole(d.Field("ahead")), w.Whole(d.Field("fetched"))
	w.ADDQ(w.Place(d.Field("data")), ahead)
	xs := []reg.GPVirtual{x} // of the first vector, and of the fifth
	if vectors > 4 {
		xs = append(xs, w.GP64())
		w.LEAQ(Mem{Base: x, Index: line, Scale: 4}, xs[1])
	}
	each := func(do func(i int, at func(base reg.Register, bytes int) Mem)) {
		for i := range vectors {
			do(i, func(base reg.Register, bytes int) Mem {
				switch {
				case i < 4:
					return row(base, line, line3, i, bytes)
				case base == x:
					return row(xs[1], line, line3, i-4, bytes)
				}
				other := w.GP64()
				w.LEAQ(Mem{Base: base, Index: line, Scale: 4}, other)
				return row(other, line, line3, i-4, bytes)
			})
		}
	}
	w.Times("block", w.Whole(d.Field("blocks")), func() {
		w.Times("group", w.Whole(d.Field("each")), func() {
			products := make([]reg.VecVirtual, 2*vectors)
			for i := range products {
				products[i] = w.Zero()
			}
			w.Times("step", w.Whole(d.Field("steps")), func() {
				for i := range 2 {
					w.PREFETCHT1(emit.At(ahead, 64*i))
				}
				w.ADDQ(fetched, ahead)
				for pair := range 4 {
					parts := w.Vectors(2) // of 32 bits, those of this pair
					for half, r := range parts {
						if integers == 0 {
							w.VPMOVZXBW(emit.At(panel, 32*pair+16*half), r)
							continue
						}
						at, shift := 64*(pair*integers/16)+32*half, integers*pair%16
						w.VMOVDQU(emit.At(panel, at), r)
						if shift > 0 {
							w.VPSRLW(Imm(uint64(shift)), r, r)
						}
						if shift+integers < 16 {
							w.VPAND(w.Table(8, func(int) int { return (1<<integers - 1) * 0x10001 }), r, r)
						}
					}
					each(func(i int, at func(reg.Register, int) Mem) {
						both := w.Vector()
						w.VPBROADCASTD(at(x, 4*pair), both)
						for half, r := range parts {
							product := both // for the second
							if half == 0 {
								product = w.Vector()
							}
							w.VPMADDWD(both, r, product)
							w.VPADDD(product, products[2*i+half], products[2*i+half])
						}
					})
				}
				w.Add([]int{128, 64, 128}[integers/4], panel)
				for _, x := range xs {
					w.Add(16, x)
				}
			})
			each(func(i int, at func(reg.Register, int) Mem) {
				unit := w.Vector()
				w.VBROADCASTSS(at(units, 0), unit)
				for half, r := range products[2*i:][:2] {
					worth, sum := w.Vector(), emit.At(sums, 128*i+32*half)
					w.VMULPS(emit.At(scale, 32*half), unit, worth)
					w.VCVTDQ2PS(r, r)
					w.VFMADD213PS(sum, worth, r)
					w.VMOVUPS(r, sum)
				}
			})
			w.Add(4, units)
		})
		product := w.Whole(d.Field("product"))
		each(func(i int, at func(reg.Register, int) Mem) {
			mean := w.Vector()
			w.VBROADCASTSS(at(means, 0), mean)
			for half := range 2 {
				r, sum := w.Vector(), emit.At(sums, 128*i+32*half)
				w.VMOVUPS(sum, r)
				w.VFNMADD231PS(emit.At(product, 32*half), mean, r)
				w.VMOVUPS(r, sum)
			}
		})
		w.Add(4, means)
		w.Add(64, scale)
		w.ADDQ(Imm(64), w.Place(d.Field("product")))
	})
	w.End()
}

// wordRows adds the products of 16 rows of bytes with one vector of words to sums. It reads two rows at a time that are
// eight apart, each where the one before it ended, as memory is read ahead.
func (w width) wordRows(extend func(...Op)) {
	d := w.Dereference(w.Param("d"))
	data, line, to := w.Whole(d.Field("data")), w.Whole(d.Field("line")), w.Whole(d.Field("sums"))
	scale, product, stride := w.Whole(d.Field("scale")), w.Whole(d.Field("product")), w.Whole(d.Field("stride"))
	pairs := w.GP64()
	w.MOVQ(I32(8), pairs)
	w.Times("pair", pairs, func() {
		x, units, means := w.Whole(d.Field("x")), w.Whole(d.Field("units")), w.Whole(d.Field("means"))
		sums := []reg.VecVirtual{w.Zero(), w.Zero()}
		offsets := []reg.VecVirtual{w.XMM(), w.XMM()}
		for _, r := range offsets {
			w.VXORPS(r, r, r)
		}
		w.Times("block", w.Whole(d.Field("blocks")), func() {
			w.Times("group", w.Whole(d.Field("each")), func() {
				products := []reg.VecVirtual{w.Zero(), w.Zero()}
				for i := range products {
					w.PREFETCHT0(row(data, line, nil, i, 1536))
				}
				w.Times("step", w.Whole(d.Field("steps")), func() {
					for half := range 2 {
						words := w.Vector()
						w.VMOVDQU(emit.At(x, 32*half), words)
						for i := range products {
							r := w.Vector()
							extend(row(data, line, nil, i, 16*half), r)
							w.VPMADDWD(words, r, r)
							w.VPADDD(r, products[i], products[i])
						}
					}
					w.Add(32, data)
					w.Add(64, x)
				})
				unit := w.Vector()
				w.VBROADCASTSS(emit.At(units, 0), unit)
				for i, r := range products {
					worth := w.Vector()
					w.VBROADCASTSS(row(scale, stride, nil, i, 0), worth)
					w.VMULPS(unit, worth, worth)
					w.VCVTDQ2PS(r, r)
					w.VFMADD231PS(worth, r, sums[i])
				}
				w.Add(4, units)
			})
			mean := w.XMM()
			w.VMOVSS(emit.At(means, 0), mean)
			for i, r := range offsets {
				w.VFNMADD231SS(row(product, stride, nil, i, 0), mean, r)
			}
			for _, r := range []reg.Register{means, scale, product} {
				w.Add(4, r)
			}
		})
		for i := range sums {
			r := w.total(sums[i : i+1])
			w.VADDSS(offsets[i], r, r)
			w.VADDSS(emit.At(to, 32*i), r, r)
			w.VMOVSS(r, emit.At(to, 32*i))
		}
		w.Add(4, to)
	})
	w.End()
}
