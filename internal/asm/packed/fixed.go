package packed

import (
	"github.com/anekit/anekit/internal/asm/emit"

	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fixed is a kernel of integers, of a multiple of some rows at a time.
type fixed struct {
	width
	rows, columns int // columns of a block; 128 for those of units

	d                     gotypes.Component // the argument, a fixes
	data, line, line3     reg.Register      // of a row, the bytes of one and of three
	from, stride, stride3 reg.Register      // the bytes before the scales of a row, those of one and of three
	nibbles, flip         reg.VecVirtual    // the bits of an integer, and those that are flipped
	worth                 []reg.VecVirtual  // with 256 bits, what the digits are worth
}

// row is the memory of one of four rows.
func row(base, one, three reg.Register, i, bytes int) Mem {
	switch m := (Mem{Base: base, Disp: bytes}); i {
	case 0:
		return m
	case 3:
		return m.Idx(three, 1)
	default:
		return m.Idx(one, uint8(i))
	}
}

func (k *fixed) data4(i, bytes int) Mem { return row(k.data, k.line, k.line3, i, bytes) }

func (k *fixed) scales(base reg.Register, i, bytes int) Mem {
	return row(base, k.stride, k.stride3, i, bytes)
}

func (k *fixed) write() {
	k.d = k.Dereference(k.Param("d"))
	k.data, k.line, k.stride = k.Whole(k.d.Field("data")), k.Whole(k.d.Field("line")), k.Whole(k.d.Field("stride"))
	to := k.Whole(k.d.Field("sums"))
	k.from = k.GP64()
	k.XORL(k.from.(reg.GPVirtual).As32(), k.from.(reg.GPVirtual).As32())
	if k.rows > 1 {
		k.line3, k.stride3 = k.GP64(), k.GP64()
		k.LEAQ(Mem{Base: k.line, Index: k.line, Scale: 2}, k.line3)
		k.LEAQ(Mem{Base: k.stride, Index: k.stride, Scale: 2}, k.stride3)
	}
	k.nibbles, k.flip = k.Constant(0x0f0f0f0f), k.Vector()
	k.VPBROADCASTD(k.Place(k.d.Field("flip")), k.flip)
	if k.Bits == 256 {
		k.worth = []reg.VecVirtual{k.Constant(0x80008000), k.Constant(0x1000100), k.Constant(0x10001)}
	}
	next := k.Fresh("row")
	k.Here(next)
	sums := make([][]reg.VecVirtual, k.rows)
	for i := range sums {
		for range 512 / k.Bits {
			sums[i] = append(sums[i], k.Zero())
		}
	}
	k.offsets(sums)
	data := k.GP64()
	k.MOVQ(k.data, data)
	k.units(sums)
	k.LEAQ(Mem{Base: data, Index: k.line, Scale: uint8(k.rows)}, k.data)
	for i, sum := range sums {
		k.VMOVSS(k.total(sum), emit.At(to, 4*i))
	}
	k.Add(4*k.rows, to)
	k.LEAQ(Mem{Base: k.from, Index: k.stride, Scale: uint8(k.rows)}, k.from)
	k.SUBQ(Imm(uint64(k.rows)), k.Place(k.d.Field("rows")))
	k.JNE(next)
	k.End()
}

// offsets subtracts from sums what the offsets of blocks take from rows: the products of scale and offset times the
// sums of the vector's elements. The scales become those of the vector's integers.
func (k *fixed) offsets(sums [][]reg.VecVirtual) {
	scale, product, vector := k.Whole(k.d.Field("scale")), k.Whole(k.d.Field("product")), k.Whole(k.d.Field("vector"))
	blocks := k.Whole(k.d.Field("blocks"))
	k.ADDQ(k.from, scale)
	k.ADDQ(k.from, product)
	some, done := k.Fresh("blocks"), k.Fresh("done")
	if k.Bits == 256 {
		k.stored(sums, scale, vector, blocks, done)
	}
	few := make([]LabelRef, len(sums[0]))
	k.Here(some)
	for half := range few {
		few[half] = k.Fresh("few")
		k.CMPQ(blocks, Imm(uint64(k.Lanes())))
		k.JLT(few[half])
		k.offset(sums, scale, product, vector, half, nil)
		k.SUBQ(Imm(uint64(k.Lanes())), blocks)
	}
	k.Add(128, vector)
	k.Add(64, product)
	k.Add(64, scale)
	k.JMP(some)
	for half := range few {
		k.Here(few[half])
		k.NEGQ(blocks)
		k.JEQ(done)
		table, mask := k.GP64(), k.Vector()
		k.LEAQ(k.Table(32, func(i int) int { return i/16 - 1 }), table)
		k.VMOVUPS(Mem{Base: table, Disp: 64, Index: blocks, Scale: 4}, mask)
		k.offset(sums, scale, product, vector, half, mask)
		if half < len(few)-1 {
			k.JMP(done)
		}
	}
	k.Here(done)
}

// stored is offsets of scales and offsets as they lie in memory, in whole vectors, if there are any.
func (k *fixed) stored(sums [][]reg.VecVirtual, scale, vector, blocks reg.Register, done LabelRef) {
	prepared, more := k.Fresh("prepared"), k.Vector()
	halves, offsets, row := k.Whole(k.d.Field("halves")), k.Whole(k.d.Field("offsets")), k.GP64()
	k.TESTQ(halves, halves)
	k.JEQ(prepared)
	k.MOVQ(k.from, row)
	k.SHRQ(Imm(1), row)
	k.ADDQ(row, halves)
	k.ADDQ(row, offsets)
	k.VBROADCASTSS(k.Place(k.d.Field("more")), more)
	next := k.Fresh("stored")
	k.Here(next)
	for half, sum := range sums[0] {
		s, product, rest, at := k.Vector(), k.Vector(), k.Vector(), 32*half
		k.PREFETCHT1(emit.At(halves, 4096+16*half))
		k.PREFETCHT1(emit.At(offsets, 4096+16*half))
		k.VCVTPH2PS(emit.At(halves, 16*half), s)
		k.VCVTPH2PS(emit.At(offsets, 16*half), product)
		k.VMULPS(s, product, product)
		k.VMULPS(s, more, rest)
		k.VADDPS(rest, product, product)
		k.VMULPS(emit.At(vector, at), product, product)
		k.VSUBPS(product, sum, sum)
		k.VMULPS(emit.At(vector, at+64), s, s)
		k.VMOVUPS(s, emit.At(scale, at))
		k.SUBQ(Imm(8), blocks)
		k.JEQ(done)
	}
	k.Add(32, halves)
	k.Add(32, offsets)
	k.Add(64, scale)
	k.Add(128, vector)
	k.JMP(next)
	k.Here(prepared)
}

// offset is offsets of a vector of blocks, or of those that mask has.
func (k *fixed) offset(sums [][]reg.VecVirtual, scale, product, vector reg.Register, half int, mask reg.Register) {
	load := func(m Mem, r Op) { k.VMOVUPS(m, r) }
	store := func(r Op, m Mem) { k.VMOVUPS(r, m) }
	if mask != nil && k.Bits == 512 {
		bits := k.K()
		k.VPMOVD2M(mask, bits)
		load = func(m Mem, r Op) { k.VMOVUPS_Z(m, bits, r) }
		store = func(r Op, m Mem) { k.VMOVUPS(r, bits, m) }
	} else if mask != nil {
		load = func(m Mem, r Op) { k.VMASKMOVPS(m, mask, r) }
		store = func(r Op, m Mem) { k.VMASKMOVPS(r, mask, m) }
	}
	at := half * k.Bits / 8
	for i := range sums {
		s, p := k.Vector(), k.Vector()
		load(k.scales(scale, i, at), s)
		load(k.scales(product, i, at), p)
		k.VMULPS(emit.At(vector, at), p, p)
		k.VSUBPS(p, sums[i][half], sums[i][half])
		k.VMULPS(emit.At(vector, at+64), s, s)
		store(s, k.scales(scale, i, at))
	}
}

// units adds the products of all units of rows to sums.
func (k *fixed) units(sums [][]reg.VecVirtual) {
	digits, units, scale := k.Whole(k.d.Field("digits")), k.Whole(k.d.Field("units")), k.Whole(k.d.Field("scale"))
	each := k.GP64()
	if k.columns == 128 {
		k.Load(k.d.Field("each"), each)
	}
	k.ADDQ(k.from, scale)
	mask := k.K()
	if k.Bits == 512 {
		k.KXNORW(mask, mask, mask)
	}
	total, both, last := k.Fresh("total"), k.Fresh("both"), k.Fresh("last")
	k.Times("unit", units, func() {
		if k.Bits == 512 {
			whole := k.Fresh("whole")
			k.CMPQ(units, Imm(1))
			k.JNE(whole)
			k.KMOVW(k.Place(k.d.Field("last")), mask)
			k.Here(whole)
			if k.rows > 1 {
				for i := range k.rows {
					k.PREFETCHT1(k.data4(i, 12288))
				}
			}
			k.half(sums, digits, scale, mask, 0)
		} else {
			k.PREFETCHT0(emit.At(k.data, 1536))
			k.half(sums, digits, scale, mask, 0)
			k.CMPQ(units, Imm(1))
			k.JEQ(last)
			k.Here(both)
			k.half(sums, digits, scale, mask, 1)
		}
		if k.columns == 128 {
			further := k.GP64()
			k.LEAQ(emit.At(scale, 4), further)
			k.DECQ(each)
			k.CMOVQEQ(further, scale)
			k.CMOVQEQ(k.Place(k.d.Field("each")), each)
		} else {
			k.Add(512/k.columns, scale)
		}
		k.Add(448, digits)
		k.Add(64, k.data)
	})
	if k.Bits == 256 {
		k.JMP(total)
		k.Here(last)
		k.CMPW(k.Place(k.d.Field("last")), Imm(0xff))
		k.JNE(both)
	}
	k.Here(total)
}

// half adds a vector of lanes of a unit of each row.
func (k *fixed) half(sums [][]reg.VecVirtual, digits, scale, mask reg.Register, half int) {
	at := half * k.Bits / 8
	var worth reg.VecVirtual
	if k.columns == 128 {
		worth = k.Vector()
		k.VMOVUPS(emit.At(digits, 384+at), worth)
	}
	even, odd, products := k.Vectors(k.rows), k.Vectors(k.rows), make([]reg.VecVirtual, k.rows)
	scales := make([]reg.VecVirtual, k.rows)
	for i, r := range even {
		if k.Bits == 512 {
			k.VMOVDQU32_Z(k.data4(i, at), mask, r)
		} else {
			k.VPXOR(k.data4(i, at), k.flip, r)
		}
	}
	for i := range scales {
		scales[i] = k.scale(k.scales(scale, i, 0), half, worth)
	}
	for i, r := range even {
		if k.VPSRLD(Imm(4), r, odd[i]); k.Bits == 512 {
			k.VPTERNLOGD(Imm(0x28), k.nibbles, k.flip, r)
			k.VPTERNLOGD(Imm(0x28), k.nibbles, k.flip, odd[i])
		} else {
			k.VPAND(k.nibbles, r, r)
			k.VPAND(k.nibbles, odd[i], odd[i])
		}
	}
	if k.Bits == 512 {
		products = k.dots(even, odd, digits)
	} else {
		for i := range products {
			products[i] = k.dot(even[i], odd[i], digits, at)
		}
	}
	for i, p := range products {
		k.VCVTDQ2PS(p, p)
		k.VFMADD231PS(scales[i], p, sums[i][half])
	}
}

// dots returns the products of integers, even and odd ones, with the digits of a vector, one row after the other so
// that none waits for its own sum.
func (k *fixed) dots(even, odd []reg.VecVirtual, digits reg.Register) []reg.VecVirtual {
	sums := make([]reg.VecVirtual, len(even))
	for i := range sums {
		sums[i] = k.Zero()
	}
	for digit := range 3 {
		for parity, integers := range [][]reg.VecVirtual{even, odd} {
			d := k.Vector()
			k.VMOVDQU64(emit.At(digits, 128*digit+64*parity), d)
			for i, r := range integers {
				k.VPDPBUSD(d, r, sums[i])
			}
		}
		if digit < 2 {
			for _, sum := range sums {
				k.VPSLLD(Imm(8), sum, sum)
			}
		}
	}
	return sums
}

// dot is dots of a row without AVX-512.
func (k *fixed) dot(even, odd reg.VecVirtual, digits reg.Register, at int) reg.VecVirtual {
	sums := k.Vectors(3)
	for digit, sum := range sums {
		o := k.Vector()
		k.VPMADDUBSW(emit.At(digits, 128*digit+at), even, sum)
		k.VPMADDUBSW(emit.At(digits, 128*digit+64+at), odd, o)
		k.VPADDW(o, sum, sum)
		k.VPMADDWD(k.worth[digit], sum, sum)
	}
	k.VPADDD(sums[1], sums[0], sums[0])
	k.VPADDD(sums[2], sums[0], sums[0])
	return sums[0]
}

// scale gives each lane the scale of its block; where a unit has one block, times that of the unit.
func (k *fixed) scale(m Mem, half int, worth reg.VecVirtual) reg.VecVirtual {
	s := k.Vector()
	switch {
	case k.columns == 128:
		k.VBROADCASTSS(m, s)
		k.VMULPS(worth, s, s)
		return s
	case k.columns == 64 && k.Bits == 256:
		k.VBROADCASTSS(m.Offset(4*half), s)
		return s
	case k.columns == 64:
		k.VBROADCASTSD(m, s)
	case k.Bits == 512:
		k.VBROADCASTF32X4(m, s)
	default:
		k.VBROADCASTF128(m, s)
	}
	places := k.Table(16, func(i int) int { return i / (k.columns / 8) })
	k.VPERMILPS(places.Offset(half*k.Bits/8), s, s)
	return s
}

// total adds all lanes of a vector, or of two that are one.
func (w width) total(r []reg.VecVirtual) reg.VecVirtual {
	if len(r) > 1 {
		w.VADDPS(r[1], r[0], r[0])
	}
	return w.fold(r[0], func(t, r reg.Register) { w.VADDPS(t, r, r) })
}
