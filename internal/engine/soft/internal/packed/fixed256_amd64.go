package packed

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

// fixed256Rows32, fixed256Rows64 and fixed256RowsAll are the kernels of integers for processors without AVX-512 VNNI,
// for any number of rows, in blocks of 32 and 64 columns and of units. The units of the vector's integers are those
// of its lanes, and the products of scale and offset are those of integers without a sign.
//
//go:noescape
func fixed256Rows32(d *fixes)

//go:noescape
func fixed256Rows64(d *fixes)

//go:noescape
func fixed256RowsAll(d *fixes)

// scales are the arguments of scales256: scales, eight at a time, and as many offsets of one of three kinds or of none.
// The results are the scales, and their products with the offsets plus more times the scales.
type scales struct {
	scale       *fp16.Bits
	half        *fp16.Bits
	single      *float32
	bytes       *byte
	signed      int
	eights      int
	to, product *float32
	more        float32
}

// scales256 is factors of many blocks. bounded tells that no element is infinite as a half; it does not find all that
// are none.
//
//go:noescape
func scales256(s *scales) (bounded bool)

// hasFixed256 reports whether this processor has the kernels of integers without AVX-512 VNNI, but not those with it.
func hasFixed256() bool { return machine.kernel != portable && !hasFixed() }

// prepare256 sets room to the scales of blocks from block from on and, a padded row further, to their products with the
// offsets. It reports whether all are bounded; it does not find all that are.
func (w *Weights) prepare256(room []float32, from, blocks int) (bounded bool) {
	n := (blocks + 15) / 16 * 16
	to, product := room[:n], room[n:2*n]
	bounded = true
	s := scales{eights: blocks / 8, to: &to[0], product: &product[0]}
	if w.Signed {
		s.signed, s.more = 1, 8
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

// fix256 is fix for the kernels without AVX-512 VNNI.
func fix256(w *Weights, v *Vector) bool {
	if v.finite = w.fixPortable(v); !v.finite {
		return true
	}
	group := w.group()
	var x [unit]float32
	for u := range w.units() {
		here := copy(x[:], v.digits[u*unit:min((u+1)*unit, w.Cols)])
		clear(x[here:])
		to := v.digits[u*stored:][:stored]
		for half := range 2 { // the even elements, then the odd ones
			for i := range unit / 8 {
				var high, middle, low uint32
				for j := range 4 {
					// A digit is -128 to 127.
					n := uint32(int32(x[8*i+2*j+half])) + 0x808080
					low |= n & 0xff << (8 * j)
					middle |= n >> 8 & 0xff << (8 * j)
					high |= n >> 16 & 0xff << (8 * j)
				}
				at := to[unit/8*half+i:]
				at[0] = math.Float32frombits(high ^ 0x80808080)
				at[unit/4] = math.Float32frombits(middle ^ 0x80808080)
				at[unit/2] = math.Float32frombits(low ^ 0x80808080)
			}
		}
		for l := range here / lane {
			to[stored-lanes+l] = v.units[(u*unit+l*lane)/group]
		}
	}
	return true
}

// fixed256 is fixedDots by the kernels without AVX-512 VNNI.
func (w *Weights) fixed256(sums []float32, v *Vector, room []float32, row int) bool {
	blocks := w.blocks()
	w.prepare256(room, row*blocks, len(sums)*blocks)
	d := fixes{sums: &sums[0], data: &w.Data[row*w.Cols/2], digits: &v.digits[0], scale: &room[0],
		product: &room[(len(sums)*blocks+15)/16*16], vector: &v.sums[0], rows: len(sums), units: w.units(),
		last: 0xffff, each: (w.Wide + unit - 1) / unit, blocks: blocks}
	if w.Cols%unit != 0 {
		d.last = 0xff
	}
	if w.Signed {
		d.flip = 0x88888888
	}
	switch w.join() {
	case 0:
		fixed256Rows32(&d)
	case 1:
		fixed256Rows64(&d)
	default:
		fixed256RowsAll(&d)
	}
	return true
}
