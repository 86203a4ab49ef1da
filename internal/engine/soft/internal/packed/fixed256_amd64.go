package packed

import "github.com/anekit/anekit/ane/fp16"

// The kernels of integers for processors without AVX-512 VNNI take any number of rows, in blocks of 32 and 64 columns
// and of units, of integers without and with a sign. The products of scale and offset are those of integers without
// one. The scales become those of the vector's integers, except for blocks of units.
//
//go:noescape
func fixed256Plain32(d *fixes)

//go:noescape
func fixed256Plain64(d *fixes)

//go:noescape
func fixed256PlainAll(d *fixes)

//go:noescape
func fixed256Flipped32(d *fixes)

//go:noescape
func fixed256Flipped64(d *fixes)

//go:noescape
func fixed256FlippedAll(d *fixes)

// scales are the arguments of scales256: scales, eight at a time, and as many offsets of one of three kinds or of none.
// The results are the scales, and their products with the offsets plus more times the scales. sure is not 0 if all are
// known to be bounded.
type scales struct {
	scale       *fp16.Bits
	half        *fp16.Bits
	single      *float32
	bytes       *byte
	signed      int
	eights      int
	to, product *float32
	more        float32
	sure        int32
}

// scales256 is factors of many blocks. Unless sure, bounded tells that no element is infinite as a half; it does not find all that
// are none.
//
//go:noescape
func scales256(s *scales) (bounded bool)

// fixing256 are the arguments of fixGroups256: groups of a vector, and of each the pieces of 32 columns. Every four
// pieces become stored float32s, and each group its sum.
type fixing256 struct {
	x        *float32
	to, sums *float32
	groups   int
	each     int
}

// fixGroups256 makes integers of a vector and returns the bits of the greatest magnitude in it.
//
//go:noescape
func fixGroups256(f *fixing256) (most uint32)

// steep256 is steep for groups of a vector. It reads x, groups and each.
//
//go:noescape
func steep256(f *fixing256) (is bool)

// hasFixed256 reports whether this processor has the kernels of integers without AVX-512 VNNI, but not those with it.
func hasFixed256() bool { return machine.kernel != portable && !hasFixed() }

// prepare256 sets room to the scales of blocks from block from on and, a padded row further, to their products with the
// offsets. It reports whether all are bounded unless that is sure; it does not find all that are.
func (w *Weights) prepare256(room []float32, from, blocks int, sure bool) (bounded bool) {
	n := (blocks + 15) / 16 * 16
	to, product := room[:n], room[n:2*n]
	bounded = true
	s := scales{eights: blocks / 8, to: &to[0], product: &product[0]}
	if w.Signed {
		s.signed, s.more = 1, 8
	}
	if sure {
		s.sure = 1
	}
	if s.eights > 0 {
		s.scale = &w.Scale[from : from+blocks][0]
		switch {
		case w.OffsetHalf != nil:
			s.half = &w.OffsetHalf[from : from+blocks][0]
		case w.OffsetSingle != nil:
			s.single = &w.OffsetSingle[from : from+blocks][0]
		case w.OffsetByte != nil:
			s.bytes = &w.OffsetByte[from : from+blocks][0]
		}
		bounded = scales256(&s)
	}
	for i := 8 * s.eights; i < blocks; i++ {
		to[i], product[i] = w.factors(from + i)
		bounded = bounded && isBounded(to[i], product[i])
	}
	return bounded
}

// fix256 is fix for the kernels without AVX-512 VNNI. It leaves v.units the sums of the groups.
func (w *Weights) fix256(v *Vector) {
	group := w.group()
	f := fixing256{to: &v.digits[0], sums: &v.units[0], groups: w.Cols / group, each: group / (unit / 4)}
	var most uint32
	if f.groups > 0 {
		f.x = &v.x[:w.Cols][0]
		most = fixGroups256(&f)
	}
	if whole := f.groups * group; whole < w.Cols { // half a unit
		most = max(most, fixGroups256(&fixing256{&v.x[whole:w.Cols][0], &v.digits[whole/unit*stored],
			&v.units[f.groups], 1, (w.Cols - whole) / (unit / 4)}))
	}
	v.finite = most < 0xff<<23
	for g, sum := range v.units[:(w.Cols+group-1)/group] {
		w.addGroup(v, g, sum)
	}
}

// steep256 is steep for processors without AVX-512 VNNI.
func (w *Weights) steep256(x []float32) bool {
	group := w.group()
	f := fixing256{groups: w.Cols / group, each: group / (unit / 4)}
	if f.groups > 0 {
		f.x = &x[:w.Cols][0]
		if steep256(&f) {
			return true
		}
	}
	whole := f.groups * group
	return whole < w.Cols &&
		steep256(&fixing256{x: &x[whole:w.Cols][0], groups: 1, each: (w.Cols - whole) / (unit / 4)})
}

// fixed256 is fixedDots by the kernels without AVX-512 VNNI.
func (w *Weights) fixed256(sums []float32, v *Vector, room []float32, row int) bool {
	blocks := w.blocks()
	w.prepare256(room, row*blocks, len(sums)*blocks, true)
	d := fixes{sums: &sums[0], data: &w.Data[row*w.Cols/2], digits: &v.digits[0], scale: &room[0],
		product: &room[(len(sums)*blocks+15)/16*16], vector: &v.sums[0], rows: len(sums), units: w.units(),
		last: 0xffff, each: (w.Wide + unit - 1) / unit, blocks: blocks}
	if w.Cols%unit != 0 {
		d.last = 0xff
	}
	if w.Signed {
		d.flip = 0x88888888
	}
	switch join := w.join(); {
	case join == 0 && w.Signed:
		fixed256Flipped32(&d)
	case join == 0:
		fixed256Plain32(&d)
	case join == 1 && w.Signed:
		fixed256Flipped64(&d)
	case join == 1:
		fixed256Plain64(&d)
	case w.Signed:
		fixed256FlippedAll(&d)
	default:
		fixed256PlainAll(&d)
	}
	return true
}
