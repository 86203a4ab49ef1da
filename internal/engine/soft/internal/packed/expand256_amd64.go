package packed

import "github.com/anekit/anekit/ane/fp16"

// parts256 is what the kernels that expand without AVX-512 read of some blocks: their scales, and of the products of
// scale and offset the high part, the rest, and what rounding takes of the rest; see split.
type parts256 [4][fewBlocks]float32

// split256 makes the other parts of scales and offsets, so that integer * scale - high is exact in float32. wrong tells
// that numbers are too small or too large for that.
//
//go:noescape
func split256(p *parts256, offset *[fewBlocks]float32) (wrong bool)

// expanding256 are the arguments of the kernels: blocks, and of each the sixteens of integers. numbers has what the low
// bits of an integer stand for.
type expanding256 struct {
	to           *float32
	data         *byte
	parts        *parts256
	numbers      *[step]float32
	blocks, each int
}

//go:noescape
func expand256By4(e *expanding256)

//go:noescape
func expand256By2(e *expanding256)

//go:noescape
func expand256By8(e *expanding256, signed bool)

// split256 sets p to the parts of some blocks from block from on. It returns false if the kernels cannot take them.
func (w *Weights) split256(p *parts256, from, blocks int) bool {
	var offset [fewBlocks]float32
	fp16.Decode(p[0][:blocks], w.Scale[from:][:blocks])
	switch {
	case w.OffsetHalf != nil:
		fp16.Decode(offset[:blocks], w.OffsetHalf[from:][:blocks])
	case w.OffsetSingle != nil:
		copy(offset[:blocks], w.OffsetSingle[from:])
	case w.OffsetByte != nil && w.Signed:
		for i, b := range w.OffsetByte[from:][:blocks] {
			offset[i] = float32(int8(b))
		}
	case w.OffsetByte != nil:
		for i, b := range w.OffsetByte[from:][:blocks] {
			offset[i] = float32(b)
		}
	}
	return !split256(p, &offset)
}

// expand256 is expand without AVX-512, for blocks whose parts are p.
func (w *Weights) expand256(p *parts256, dst []float32, at, blocks int) {
	e := expanding256{to: &dst[0], parts: p, blocks: blocks, each: len(dst) / blocks / step}
	width := w.width()
	data := w.Data[at/8*width:][:len(dst)/8*width]
	switch width {
	case 2, 4:
		numbers := w.numbers()
		e.numbers, e.data = &numbers, &data[0]
		if width == 2 {
			expand256By2(&e)
		} else {
			expand256By4(&e)
		}
	case 8:
		e.data = &data[0]
		expand256By8(&e, w.Signed)
	default:
		var bytes [fewBytes]byte
		w.unpack(bytes[:len(dst)], data)
		e.data = &bytes[0]
		expand256By8(&e, w.Signed)
	}
}
