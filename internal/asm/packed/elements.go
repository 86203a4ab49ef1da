package packed

import (
	"fmt"

	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elements is a kernel that makes elements of integers.
type elements struct {
	width
	integers int  // their bits
	signed   bool // of 8 bits, in two's complement
	exact    bool // all elements are exact in float32

	d               gotypes.Component // the argument, a dots
	data            reg.GPVirtual
	scale           reg.GPVirtual
	high            []reg.GPVirtual
	ones, zero      reg.VecVirtual
	block           reg.VecVirtual   // the scale of a block
	offset          []reg.VecVirtual // and its product with the offset, in as many parts as high has
	numbers         []reg.VecVirtual // what the integers stand for
	table           []reg.VecVirtual // the elements of a block for each integer of at most 4 bits
	shifts, spreads []reg.VecVirtual
	some            reg.OpmaskVirtual
}

// name returns the name of the function.
func (k *elements) name(verb string) string {
	verb = fmt.Sprintf("%s%dx%d", verb, k.Bits, k.integers)
	if k.signed {
		verb += "Signed"
	}
	if k.exact {
		verb += "Exact"
	}
	return verb
}

// when is the condition under which the function is chosen.
func (k *elements) when() string {
	if k.integers < 8 {
		return fmt.Sprintf("integers == %d", k.integers)
	}
	return fmt.Sprintf("integers == 8 && signed == %v", k.signed)
}

// start reads the arguments.
func (k *elements) start() {
	k.d = k.Dereference(k.Param("d"))
	k.data, k.scale = k.Whole(k.d.Field("data")), k.Whole(k.d.Field("scale"))
	k.high = []reg.GPVirtual{k.Whole(k.d.Field("high"))}
	if !k.exact {
		k.high = append(k.high, k.Whole(k.d.Field("under")), k.Whole(k.d.Field("over")))
		k.ones, k.zero = k.Constant(1), k.Zero()
	}
	if k.integers < 6 {
		k.numbers = k.Vectors(16 / k.Lanes())
		numbers := k.Whole(k.d.Field("numbers"))
		for i, r := range k.numbers {
			k.VMOVUPS(emit.At(numbers, i*k.Bits/8), r)
		}
	}
}

// next reads what a block has, and makes its table.
func (k *elements) next() {
	k.block = k.Vector()
	k.VBROADCASTSS(emit.At(k.scale, 0), k.block)
	k.Add(4, k.scale)
	k.offset = k.Vectors(len(k.high))
	for i, r := range k.offset {
		k.VBROADCASTSS(emit.At(k.high[i], 0), r)
		k.Add(4, k.high[i])
	}
	k.table = nil
	for i := range k.numbers {
		if i > 0 && k.integers == 2 {
			break
		}
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

// number converts the bytes of 8 or 16 integers.
func (k *elements) number(m Mem, r reg.VecVirtual) {
	if k.signed {
		k.VPMOVSXBD(m, r)
	} else {
		k.VPMOVZXBD(m, r)
	}
	k.VCVTDQ2PS(r, r)
}

// expand writes a function that stores the elements of blocks of 16 integers one after the other.
func (k *elements) expand() {
	parts := 16 / k.Lanes()
	k.Func(k.name("expand"), "(d *dots)", fmt.Sprintf("makes elements of integers of %d bits.", k.integers))
	k.start()
	to := k.Whole(k.d.Field("sums"))
	if k.integers < 8 {
		k.shifts, k.spreads = k.Vectors(parts), k.Vectors(1)
		for i, r := range k.shifts {
			k.VMOVUPS(k.Table(16, func(i int) int { return i * k.integers % 32 }).Offset(i*k.Bits/8), r)
		}
		if k.Bits == 512 {
			k.VMOVUPS(k.Table(16, func(i int) int { return i * k.integers / 32 }), k.spreads[0])
		}
	}
	k.Times("block", k.Whole(k.d.Field("blocks")), func() {
		k.next()
		k.Times("sixteen", k.Whole(k.d.Field("each")), func() {
			for i, r := range k.Vectors(parts) {
				switch {
				case k.integers == 8:
					k.number(emit.At(k.data, i*k.Lanes()), r)
					k.element(r)
				case k.Bits == 512 && k.integers == 4:
					k.VPBROADCASTQ(emit.At(k.data, 0), r)
					k.VPERMD(r, k.spreads[0], r)
					k.look(r, k.shifts[0])
				default:
					k.VPBROADCASTD(emit.At(k.data, i*k.Lanes()*k.integers/8&^3), r)
					k.look(r, k.shifts[i])
				}
				k.VMOVUPS(r, emit.At(to, i*k.Bits/8))
			}
			k.Add(2*k.integers, k.data)
			k.Add(64, to)
		})
	})
	k.End()
}

// look sets r to the elements of the integers that a shift moves to its low bits.
func (k *elements) look(r, shift reg.VecVirtual) {
	k.VPSRLVD(shift, r, r)
	if len(k.table) == 1 {
		k.VPERMPS(k.table[0], r, r)
		return
	}
	upper := k.Vector()
	k.VPERMPS(k.table[1], r, upper)
	low := k.Vector()
	k.VPERMPS(k.table[0], r, low)
	k.VPSLLD(Imm(28), r, r)
	k.VBLENDVPS(r, upper, low, r)
}

// dots writes a function that multiplies rows of elements by a vector, 64 at a time.
func (k *elements) dots() {
	k.Func(k.name("dots"), "(d *dots)", fmt.Sprintf("multiplies integers of %d bits.", k.integers))
	k.start()
	if k.integers < 6 {
		k.shifts = k.Vectors(4)
		for step, r := range k.shifts {
			k.VMOVUPS(k.Table(16, func(lane int) int {
				if k.integers == 2 {
					return lane/4*8 + 2*step
				}
				return lane*4*k.integers%8 + k.integers*step
			}), r)
		}
	}
	if k.integers%3 == 0 {
		at := func(lane int) int { return lane / 4 * 2 * k.integers } // the first byte of four lanes
		k.spreads, k.some = k.Vectors(2), k.K()
		k.VMOVUPS(k.Table(16, func(lane int) int { return at(lane)/4 + lane%4 }), k.spreads[0])
		k.VMOVUPS(k.Bytes(64, func(i int) int { return spread(k.integers, at(i/4)%4, i%16) }), k.spreads[1])
		n := k.GP32()
		k.MOVL(U32(1<<(2*k.integers)-1), n)
		k.KMOVW(n, k.some)
	}
	to := k.Whole(k.d.Field("sums"))
	k.Times("row", k.Whole(k.d.Field("rows")), func() {
		x, sums := k.Whole(k.d.Field("x")), make([]reg.VecVirtual, 4)
		for i := range sums {
			sums[i] = k.Zero()
		}
		k.Times("block", k.Whole(k.d.Field("blocks")), func() {
			k.next()
			k.Times("chunk", k.Whole(k.d.Field("each")), func() {
				for i, r := range k.chunk() {
					k.VFMADD231PS(emit.At(x, 64*i), r, sums[i])
				}
				k.Add(8*k.integers, k.data)
				k.Add(256, x)
			})
		})
		k.VADDPS(sums[1], sums[0], sums[0])
		k.VADDPS(sums[3], sums[2], sums[2])
		k.VADDPS(sums[2], sums[0], sums[0])
		k.neighbours(sums[0])
		k.VMOVSS(sums[0].AsX(), emit.At(to, 0))
		k.Add(4, to)
	})
	k.End()
}

// neighbours adds neighbouring lanes of r, and then neighbouring sums, in the order of their elements.
func (k *elements) neighbours(r reg.VecVirtual) {
	t := k.ZMM()
	within := func(order uint64) { k.VPERMILPS(Imm(order), r, t) }
	among := func(order uint64) { k.VSHUFF32X4(Imm(order), r, r, t) }
	rounds := []func(uint64){within, among}
	if k.integers == 2 {
		rounds = []func(uint64){among, within}
	}
	for _, round := range rounds {
		for _, order := range []uint64{0xb1, 0x4e} {
			round(order)
			k.VADDPS(t, r, r)
		}
	}
}

// chunk returns the elements of 64 integers, in four steps.
func (k *elements) chunk() []reg.VecVirtual {
	k.PREFETCHT0(emit.At(k.data, 8192))
	r, all := k.ZMM(), k.Vectors(4)
	switch k.integers {
	case 2:
		k.VBROADCASTI32X4(emit.At(k.data, 0), r)
	case 8:
		k.VMOVDQU32(emit.At(k.data, 0), r)
	default: // four integers to a lane
		k.VMOVDQU32_Z(emit.At(k.data, 0), k.some, r)
		k.VPERMD(r, k.spreads[0], r)
		k.VPSHUFB(k.spreads[1], r, r)
	}
	for i, e := range all {
		if k.integers < 6 {
			k.VPSRLVD(k.shifts[i], r, e)
			continue
		}
		if left := 32 - (i+1)*k.integers; left > 0 {
			k.VPSLLD(Imm(uint64(left)), r, e)
		} else {
			k.VMOVDQA32(r, e)
		}
		if right := Imm(uint64(32 - k.integers)); k.signed {
			k.VPSRAD(right, e, e)
		} else {
			k.VPSRLD(right, e, e)
		}
		k.VCVTDQ2PS(e, e)
	}
	for _, e := range all {
		if k.integers < 6 {
			k.VPERMPS(k.table[0], e, e)
		} else {
			k.element(e)
		}
	}
	return all
}

// spread is the byte of integers, beginning with byte from, that byte i of four lanes reads: each lane has four integers.
func spread(integers, from, i int) int {
	if i%4*8 < 4*integers {
		return from + i/4*integers/2 + i%4
	}
	return 0x80
}

// unpack writes a function that gives each integer of 3 or 6 bits a byte.
func (w width) unpack(integers int) {
	bytes := w.Bytes(16, func(i int) int { return spread(integers, 0, i) })
	shifts := w.Table(4, func(i int) int { return i * 4 * integers % 8 })
	w.Func(fmt.Sprint("unpack", integers), "(to, data *byte, sixteens int, sign byte)",
		fmt.Sprintf("gives each integer of %d bits a byte. Those whose highest bit is sign are signed.", integers))
	to, data, sign, masks := w.Whole(w.Param("to")), w.Whole(w.Param("data")), w.XMM(), w.Vectors(4)
	w.VPBROADCASTB(w.Place(w.Param("sign")), sign)
	for i := range masks {
		masks[i] = w.Constant(uint32(1<<integers-1) << (8 * i))
	}
	w.Times("sixteen", w.Whole(w.Param("sixteens")), func() {
		r, all := w.XMM(), w.Vectors(4)
		if integers == 3 {
			w.VMOVD(emit.At(data, 0), r)
			w.VPINSRW(Imm(2), emit.At(data, 4), r, r)
		} else {
			w.VMOVQ(emit.At(data, 0), r)
			w.VPINSRD(Imm(2), emit.At(data, 8), r, r)
		}
		w.VPSHUFB(bytes, r, r)
		w.VPSRLVD(shifts, r, r)
		all[0] = r
		for i, one := range all[1:] {
			w.VPSLLD(Imm(uint64((8-integers)*(i+1))), r, one)
		}
		for i, one := range all {
			w.VPAND(masks[i], one, one)
		}
		w.VPOR(all[1], all[0], all[0])
		w.VPOR(all[3], all[2], all[2])
		w.VPOR(all[2], all[0], all[0])
		w.VPXOR(sign, all[0], all[0])
		w.VPSUBB(sign, all[0], all[0])
		w.VMOVDQU(all[0], emit.At(to, 0))
		w.Add(2*integers, data)
		w.Add(16, to)
	})
	w.RET()
}
