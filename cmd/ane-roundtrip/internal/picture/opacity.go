package picture

import (
	"encoding/binary"

	"github.com/anekit/anekit/ane/fp16"
)

// alphaSample is the index of the opacity in a pixel.
const alphaSample = 3

// Translucent reports whether a pixel is not opaque. Filters of such a picture have to multiply colors
// by opacity: use FillOver and FillOpacity, SetOver and SetOpacity.
func (p *Picture) Translucent() bool {
	if !p.alpha {
		return false
	}
	n, size := p.Depth/8, p.pixelBytes()
	for at := size - n; at < len(p.pix); at += size {
		if p.pix[at] != 0xff || p.pix[at+n-1] != 0xff {
			return true
		}
	}
	return false
}

// HasOpacity reports whether the file has opacity, even if all pixels are opaque.
func (p *Picture) HasOpacity() bool { return p.alpha }

// top is the largest sample.
func (p *Picture) top() float32 { return float32(uint(1)<<p.Depth - 1) }

// sample returns one sample of a row without scaling it.
func (p *Picture) sample(row []uint8, channel, x int) float32 {
	if p.Depth == 16 {
		return float32(binary.BigEndian.Uint16(row[2*(x*p.step+channel):]))
	}
	return float32(row[x*p.step+channel])
}

// setSample sets one sample of a row.
func (p *Picture) setSample(row []uint8, channel, x int, v float32) {
	if p.Depth == 16 {
		binary.BigEndian.PutUint16(row[2*(x*p.step+channel):], uint16(v))
		return
	}
	row[x*p.step+channel] = uint8(v)
}

// FillOver is FillRow with each sample times the opacity of its pixel.
//
// Preconditions: HasOpacity.
func (p *Picture) FillOver(dst []fp16.Bits, channel, row int) {
	src, top, scale := p.source(row), p.top(), 1/(p.top()+1)
	p.fill(dst, func(x int) float32 {
		return p.sample(src, channel, x) * (p.sample(src, alphaSample, x) / top) * scale
	})
}

// FillOpacity writes a row of the opacity, from 0 to 1, with its edges repeated.
//
// Preconditions: HasOpacity.
func (p *Picture) FillOpacity(dst []fp16.Bits, row int) {
	src, top := p.source(row), p.top()
	p.fill(dst, func(x int) float32 { return p.sample(src, alphaSample, x) / top })
}

// fill writes a value for each pixel of a row, with the edges repeated.
func (p *Picture) fill(dst []fp16.Bits, value func(x int) float32) {
	var single [chunkSize]float32
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		for i := range single[:n] {
			single[i] = value(x + i)
		}
		fp16.Encode(dst[1+x:], single[:n])
	}
	replicate(dst, p.Width)
}

// SetOver is SetRow for samples times opacity: it divides each by its opacity. Where the opacity is 0,
// the sample becomes 0.
func (p *Picture) SetOver(channel, row int, src, opacity []fp16.Bits) {
	scale, top := p.top()+1, p.top()
	dst := p.rowBytes(row)
	for x := range p.Width {
		v := float32(0)
		if a := opacity[x].Float32(); a > 0 {
			v = limited(src[x].Float32()/a*scale, top)
		}
		p.setSample(dst, channel, x, v)
	}
	p.spread(dst)
}

// SetOverKept is SetOver for a picture that keeps its opacity.
//
// Preconditions: HasOpacity.
func (p *Picture) SetOverKept(channel, row int, src []fp16.Bits) {
	scale, top := p.top()+1, p.top()
	dst := p.rowBytes(row)
	for x := range p.Width {
		v := float32(0)
		if a := p.sample(dst, alphaSample, x) / top; a > 0 {
			v = limited(src[x].Float32()/a*scale, top)
		}
		p.setSample(dst, channel, x, v)
	}
	p.spread(dst)
}

// SetOpacity sets a row of the opacity from values of 0 to 1, and limits other values to that range.
func (p *Picture) SetOpacity(row int, src []fp16.Bits) {
	dst, top := p.rowBytes(row), p.top()
	for x := range p.Width {
		p.setSample(dst, alphaSample, x, limited(src[x].Float32()*top, top))
	}
}
