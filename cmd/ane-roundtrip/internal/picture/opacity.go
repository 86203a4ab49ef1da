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

// FillOver is FillRow with each sample times the opacity of its pixel.
//
// Preconditions: HasOpacity.
func (p *Picture) FillOver(dst []fp16.Bits, channel, row int) {
	src, inner := p.source(row), dst[1:1+p.Width]
	if p.Depth == 8 {
		over := p.tables.overOpacity()
		for i := range inner {
			px := (*[4]uint8)(src[4*i:])
			inner[i] = over[uint16(px[alphaSample])<<8|uint16(px[channel&alphaSample])]
		}
		replicate(dst, p.Width)
		return
	}
	var single [chunkSize]float32
	for len(inner) > 0 {
		n := min(len(inner), chunkSize)
		for i := range single[:n] {
			px := (*[8]uint8)(src[8*i:])
			s, a := deepSample(px, channel), deepSample(px, alphaSample)
			single[i] = s * (a / deepTop) * (1. / (1 << 16))
		}
		fp16.Encode(inner, single[:n])
		inner, src = inner[n:], src[8*n:]
	}
	replicate(dst, p.Width)
}

// deepTop is the largest sample of 16 bits.
const deepTop float32 = 1<<16 - 1

// deepSample returns a sample of a pixel of four samples of 16 bits.
func deepSample(px *[8]uint8, channel int) float32 {
	i := 2 * (channel & alphaSample)
	return float32(uint16(px[i])<<8 | uint16(px[i+1]))
}

// FillOpacity writes a row of the opacity, from 0 to 1, with its edges repeated.
//
// Preconditions: HasOpacity.
func (p *Picture) FillOpacity(dst []fp16.Bits, row int) {
	src, inner := p.source(row), dst[1:1+p.Width]
	if p.Depth == 8 {
		opacities := &p.tables.opacities
		for i := range inner {
			inner[i] = opacities[src[4*i+alphaSample]]
		}
		replicate(dst, p.Width)
		return
	}
	var single [chunkSize]float32
	for len(inner) > 0 {
		n := min(len(inner), chunkSize)
		for i := range single[:n] {
			single[i] = deepSample((*[8]uint8)(src[8*i:]), alphaSample) / deepTop
		}
		fp16.Encode(inner, single[:n])
		inner, src = inner[n:], src[8*n:]
	}
	replicate(dst, p.Width)
}

// SetOver is SetRow for samples times opacity: it divides each by its opacity. Where the opacity is 0,
// the sample becomes 0.
func (p *Picture) SetOver(channel, row int, src, opacity []fp16.Bits) {
	p.setOver(channel, row, src, func(alpha []float32, x int, _ []uint8) {
		fp16.Decode(alpha, opacity[x:x+len(alpha)])
	})
}

// SetOverKept is SetOver for a picture that keeps its opacity.
//
// Preconditions: HasOpacity.
func (p *Picture) SetOverKept(channel, row int, src []fp16.Bits) {
	p.setOver(channel, row, src, func(alpha []float32, _ int, pixels []uint8) {
		if p.Depth == 8 {
			parts := &p.tables.parts
			for i := range alpha {
				alpha[i] = parts[pixels[4*i+alphaSample]]
			}
			return
		}
		for i := range alpha {
			alpha[i] = deepSample((*[8]uint8)(pixels[8*i:]), alphaSample) / deepTop
		}
	})
}

// setOver sets a row and channel from samples times opacity. opacities returns the opacity of stretches of the row,
// of at most chunkSize pixels.
func (p *Picture) setOver(channel, row int, src []fp16.Bits, opacities func(alpha []float32, x int, pixels []uint8)) {
	var values, alphas [chunkSize]float32
	dst, size := p.rowBytes(row), p.pixelBytes()
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		value, alpha, pixels := values[:n], alphas[:n], dst[x*size:(x+n)*size]
		fp16.Decode(value, src[x:x+n])
		opacities(alpha, x, pixels)
		for i, a := range alpha {
			if a > 0 {
				value[i] /= a
			} else {
				value[i] = 0
			}
		}
		if p.Depth == 8 {
			for i, v := range value {
				pixels[4*i+channel] = uint8(level(v*(1<<8), 1<<8-1))
			}
			continue
		}
		for i, v := range value {
			binary.BigEndian.PutUint16(pixels[8*i+2*channel:], uint16(level(v*(1<<16), deepTop)))
		}
	}
	p.spread(dst)
}

// level is limited, as an integer.
func level(v, top float32) int32 {
	if !(v > 0) {
		return 0
	}
	if v >= top {
		return int32(top)
	}
	return int32(v + 0.5)
}

// SetOpacity sets a row of the opacity from values of 0 to 1, and limits other values to that range.
func (p *Picture) SetOpacity(row int, src []fp16.Bits) {
	var values [chunkSize]float32
	dst, size, top := p.rowBytes(row), p.pixelBytes(), p.top()
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		value, pixels := values[:n], dst[x*size:(x+n)*size]
		fp16.Decode(value, src[x:x+n])
		if p.Depth == 8 {
			for i, v := range value {
				pixels[4*i+alphaSample] = uint8(level(float32(v*top), top))
			}
			continue
		}
		for i, v := range value {
			binary.BigEndian.PutUint16(pixels[8*i+2*alphaSample:], uint16(level(float32(v*top), top)))
		}
	}
}
