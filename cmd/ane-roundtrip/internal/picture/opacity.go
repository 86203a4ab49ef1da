package picture

import (
	"encoding/binary"

	"github.com/anekit/anekit/ane/fp16"
)

// alphaSample is where opacity is in a pixel.
const alphaSample = 3

// Translucent reports whether a pixel is less than opaque. Its colour is then not seen as
// it is stored, so filters take colours times opacity: FillOver and FillOpacity, SetOver
// and SetOpacity.
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

// HasOpacity reports whether the file tells opacity.
func (p *Picture) HasOpacity() bool { return p.alpha }

// top is the largest sample.
func (p *Picture) top() float32 { return float32(uint(1)<<p.Depth - 1) }

// sample returns one sample of a row as it stands.
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

// FillOver is FillRow with each sample times the opacity of its pixel. The picture
// has opacity.
func (p *Picture) FillOver(dst []fp16.Bits, channel, row int) {
	src, top, scale := p.source(row), p.top(), 1/(p.top()+1)
	p.fill(dst, func(x int) float32 {
		return p.sample(src, channel, x) * (p.sample(src, alphaSample, x) / top) * scale
	})
}

// FillOpacity writes a row of the opacity, from 0 to 1, with its edges replicated.
// The picture has opacity.
func (p *Picture) FillOpacity(dst []fp16.Bits, row int) {
	src, top := p.source(row), p.top()
	p.fill(dst, func(x int) float32 { return p.sample(src, alphaSample, x) / top })
}

// fill writes a value for each pixel of a row, with the edges replicated.
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

// SetOver is SetRow for samples that were taken times opacity: each is divided by
// the opacity that came with it. Where that is none, the sample is 0.
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

// SetOpacity sets a row of the opacity from values of 0 to 1; others are limited.
func (p *Picture) SetOpacity(row int, src []fp16.Bits) {
	dst, top := p.rowBytes(row), p.top()
	for x := range p.Width {
		p.setSample(dst, alphaSample, x, limited(src[x].Float32()*top, top))
	}
}
