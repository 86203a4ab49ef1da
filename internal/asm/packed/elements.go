package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elements is a kernel that makes elements of integers, and stores them or multiplies them by a vector.
type elements struct {
	width
	integers int  // their bits
	signed   bool // of 8 bits, in two's complement
	products bool // with 512 bits
	exact    bool // all elements are exact in float32

	d          gotypes.Component // the argument, a dots
	data       reg.GPVirtual
	scale      reg.GPVirtual
	high       []reg.GPVirtual
	ones, zero reg.VecVirtual
	block      reg.VecVirtual   // the scale of a block
	offset     []reg.VecVirtual // and its product with the offset, in as many parts as high has
	numbers    []reg.VecVirtual // what integers of at most 4 bits stand for
	table      []reg.VecVirtual // and their elements in a block
	shifts     []reg.VecVirtual // which bring those integers of words to the low bits
	mask, unit reg.VecVirtual   // the bits of an integer of 6 bits in a lane, and the inverse of the lowest
	upper      reg.Register     // the lanes of a second word, if there is one
}

// write writes the kernel, whose chunks have 16 integers or, for products, 64.
func (k *elements) write() {
	sixteens := 1
	if k.products {
		sixteens = 4
	}
	k.start()
	to := k.Whole(k.d.Field("sums"))
	k.Times("row", k.Whole(k.d.Field("rows")), func() {
		at, sums := to, make([]reg.VecVirtual, 4)
		if k.products {
			at = k.Whole(k.d.Field("x"))
			for i := range sums {
				sums[i] = k.Zero()
			}
		}
		k.Times("block", k.Whole(k.d.Field("blocks")), func() {
			k.next()
			k.Times("chunk", k.Whole(k.d.Field("each")), func() {
				if k.products {
					k.PREFETCHT0(emit.At(k.data, 8192))
				}
				for i, r := range k.chunk(sixteens) {
					if m := emit.At(at, i*k.Bits/8); k.products {
						k.VFMADD231PS(m, r, sums[i])
					} else {
						k.VMOVUPS(r, m)
					}
				}
				k.Add(2*k.integers*sixteens, k.data)
				k.Add(64*sixteens, at)
			})
		})
		if k.products {
			k.VMOVSS(k.neighbours(sums), emit.At(to, 0))
			k.Add(4, to)
		}
	})
	k.End()
}

func (k *elements) start() {
	k.d = k.Dereference(k.Param("d"))
	k.data, k.scale = k.Whole(k.d.Field("data")), k.Whole(k.d.Field("scale"))
	k.high = []reg.GPVirtual{k.Whole(k.d.Field("high"))}
	if !k.exact {
		k.high = append(k.high, k.Whole(k.d.Field("under")), k.Whole(k.d.Field("over")))
		k.ones, k.zero = k.Constant(1), k.Zero()
	}
	k.numbers = k.Vectors(16 / k.Lanes())
	switch {
	case k.integers < 6:
		shifts := k.Table(16, func(lane int) int { return k.integers*lane - 8*k.from(lane) })
		k.shifts = k.Vectors(16 / k.Lanes())
		for i, r := range k.shifts {
			k.VMOVUPS(shifts.Offset(i*k.Bits/8), r)
		}
	case k.integers == 6:
		k.mask, k.unit = k.Vector(), k.Vector()
		k.VMOVUPS(k.Table(16, func(lane int) int { return 63 << (6 * lane % 8) }), k.mask)
		k.VMOVUPS(k.Table(16, func(lane int) int { return (127 - 6*lane%8) << 23 }), k.unit)
	}
	if k.integers < 6 {
		numbers := k.Whole(k.d.Field("numbers"))
		for i, r := range k.numbers {
			k.VMOVUPS(emit.At(numbers, i*k.Bits/8), r)
		}
	}
	if k.Bits == 512 && k.from(8) > 0 {
		upper, n := U32(0xff00), k.GP32()
		if k.integers == 6 {
			upper = 0xf0 // 64 bits each
		}
		k.upper = k.K()
		k.MOVL(upper, n)
		k.KMOVW(n, k.upper)
	}
}

// from is the byte of sixteen integers at which the word with one of them begins. Eight have one word, of 32 bits or,
// if they have 6, of 64.
func (k *elements) from(lane int) int {
	if lane < 8 || k.integers == 8 {
		return 0
	}
	return min(2*k.integers-4, 4)
}

// next reads what a block has, and makes its table.
func (k *elements) next() {
	k.block = k.Vector()
	k.VBROADCASTSS(emit.At(k.scale, 0), k.block)
	k.Add(4, k.scale)
	if k.integers == 6 {
		k.VMULPS(k.unit, k.block, k.block)
	}
	k.offset = k.Vectors(len(k.high))
	for i, r := range k.offset {
		k.VBROADCASTSS(emit.At(k.high[i], 0), r)
		k.Add(4, k.high[i])
	}
	k.table = nil
	for i := 0; i < len(k.numbers) && i*k.Lanes() < 1<<k.integers && k.integers < 6; i++ {
		r := k.Vector()
		k.VMOVUPS(k.numbers[i], r)
		k.element(r)
		k.table = append(k.table, r)
	}
}

// element makes elements of the numbers in r. The first difference is exact. A second one that is not becomes odd, so
// that rounding it to a half rounds once.
func (k *elements) element(r reg.VecVirtual) {
	k.VFMSUB213PS(k.offset[0], k.block, r)
	half := width{emit.Width{File: k.File, Bits: k.Bits / 2}}.Vector()
	switch {
	case k.exact:
	case k.Bits == 512:
		under, odd := k.ZMM(), k.K()
		k.VSUBPS_RD_SAE(k.offset[2], r, under)
		k.VSUBPS_RU_SAE(k.offset[1], r, r)
		k.VPTESTMD(k.ones, under, odd)
		k.VMOVAPS(under, odd, r)
	default: // Fast2Sum finds what rounding takes
		z, lost, even := k.YMM(), k.YMM(), k.YMM()
		k.VSUBPS(k.offset[1], r, z)
		k.VSUBPS(z, r, lost)
		k.VSUBPS(k.offset[1], lost, lost)
		k.VSUBPS(k.offset[2], lost, lost)
		k.VCMPPS(Imm(4), k.zero, lost, r)
		k.VPXOR(z, lost, lost)
		k.VPANDN(k.ones, z, even)
		k.VPAND(r, even, even)
		k.VPSIGND(lost, even, even)
		k.VPADDD(even, z, r)
	}
	k.VCVTPS2PH(Imm(0), r, half)
	k.VCVTPH2PS(half, r)
}

// chunk returns the elements of the next integers.
func (k *elements) chunk(sixteens int) (all []reg.VecVirtual) {
	for i := range sixteens {
		for part := range 16 / k.Lanes() {
			all = append(all, k.load(2*k.integers*i, part))
		}
	}
	for _, r := range all {
		if k.integers < 6 {
			k.look(r)
			continue
		}
		k.VCVTDQ2PS(r, r)
		k.element(r)
	}
	return all
}

// load gives each lane an integer of a part of sixteen, or a multiple of one of 6 bits.
func (k *elements) load(at, part int) reg.VecVirtual {
	r, first := k.Vector(), part*k.Lanes()
	m, word := emit.At(k.data, at+k.from(first)), k.VPBROADCASTD
	switch {
	case k.integers == 6:
		word = k.VPBROADCASTQ
	case k.signed:
		k.VPMOVSXBD(m.Offset(first), r)
		return r
	case k.integers == 8:
		k.VPMOVZXBD(m.Offset(first), r)
		return r
	}
	word(m, r)
	if k.upper != nil {
		word(emit.At(k.data, at+k.from(8)), k.upper, r)
	}
	if k.integers < 6 {
		k.VPSRLVD(k.shifts[part], r, r)
		return r
	}
	places := k.Bytes(64, func(i int) int { // two bytes of each lane
		if i%4 > 1 {
			return 0x80
		}
		return i/4*6/8 - k.from(i/4) + i%4
	})
	k.VPSHUFB(places.Offset(first*4), r, r)
	k.VANDPS(k.mask, r, r)
	return r
}

// look sets r to the elements of the integers at its low bits.
func (k *elements) look(r reg.VecVirtual) {
	if len(k.table) == 1 {
		k.VPERMPS(k.table[0], r, r)
		return
	}
	upper, low := k.Vector(), k.Vector()
	k.VPERMPS(k.table[1], r, upper)
	k.VPERMPS(k.table[0], r, low)
	k.VPSLLD(Imm(28), r, r)
	k.VBLENDVPS(r, upper, low, r)
}

// neighbours adds neighbouring lanes of four vectors, then neighbouring results, up to one, which the lowest lane has.
func (k *elements) neighbours(r []reg.VecVirtual) reg.Register {
	pair := func(a, b reg.VecVirtual) {
		even := k.Vector()
		k.VSHUFPS(Imm(0x88), b, a, even)
		k.VSHUFPS(Imm(0xdd), b, a, a)
		k.VADDPS(even, a, a)
	}
	pair(r[0], r[1])
	pair(r[2], r[3])
	pair(r[0], r[2])
	t := k.Vector()
	for _, order := range []uint64{0xb1, 0x4e} {
		k.VSHUFF32X4(Imm(order), r[0], r[0], t)
		k.VADDPS(t, r[0], r[0])
	}
	for _, order := range []uint64{0xb1, 0x4e} {
		k.VPERMILPS(Imm(order), r[0], t)
		k.VADDPS(t, r[0], r[0])
	}
	return r[0].AsX()
}
