package picture

import "github.com/anekit/anekit/ane/fp16"

// Translucent reports whether a pixel is less than opaque. What its colour is
// behind that nobody sees, so filters take colours times opacity: FillOver and
// FillOpacity, SetOver and SetOpacity.
func (p *Picture) Translucent() bool {
	for _, a := range p.alpha {
		if a != 0xff {
			return true
		}
	}
	for _, a := range p.deep.alpha {
		if a != 0xffff {
			return true
		}
	}
	return false
}

// HasOpacity reports whether the file tells opacity.
func (p *Picture) HasOpacity() bool { return p.alpha != nil || p.deep.alpha != nil }

// top is the largest sample.
func (p *Picture) top() float32 { return float32(uint(1)<<p.Depth - 1) }

// sample returns one sample as it stands.
func (p *Picture) sample(channel, at int) float32 {
	if p.Depth == 16 {
		return float32(p.deep.planes[channel][at])
	}
	return float32(p.planes[channel][at])
}

// opacity returns that of one pixel, from 0 to 1.
func (p *Picture) opacity(at int) float32 {
	if p.Depth == 16 {
		return float32(p.deep.alpha[at]) / 0xffff
	}
	return float32(p.alpha[at]) / 0xff
}

// FillOver is FillRow with each sample times the opacity of its pixel. The picture
// has opacity.
func (p *Picture) FillOver(dst []fp16.Bits, channel, row int) {
	scale := 1 / (p.top() + 1)
	p.fill(dst, row, func(at int) float32 { return p.sample(channel, at) * p.opacity(at) * scale })
}

// FillOpacity writes a row of the opacity, from 0 to 1, with its edges replicated.
// The picture has opacity.
func (p *Picture) FillOpacity(dst []fp16.Bits, row int) { p.fill(dst, row, p.opacity) }

// fill writes a value for each pixel of a row, with the edges replicated.
func (p *Picture) fill(dst []fp16.Bits, row int, value func(at int) float32) {
	start := min(max(row, 0), p.Height-1) * p.Width
	var single [chunkSize]float32
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		for i := range single[:n] {
			single[i] = value(start + x + i)
		}
		fp16.Encode(dst[1+x:], single[:n])
	}
	replicate(dst, p.Width)
}

// SetOver is SetRow for samples that were taken times opacity: each is divided by
// the opacity that came with it. Where that is none, the sample is 0.
func (p *Picture) SetOver(channel, row int, src, opacity []fp16.Bits) {
	scale, top := p.top()+1, p.top()
	for x := range p.Width {
		v := float32(0)
		if a := opacity[x].Float32(); a > 0 {
			v = limited(src[x].Float32()/a*scale, top)
		}
		if p.Depth == 16 {
			p.deepRow(channel, row)[x] = uint16(v)
		} else {
			p.row(channel, row)[x] = uint8(v)
		}
	}
}

// OwnOpacity gives p, made by Like, an opacity that SetOpacity may change.
func (p *Picture) OwnOpacity() {
	if p.alpha != nil {
		p.alpha = make([]uint8, len(p.alpha))
	}
	if p.deep.alpha != nil {
		p.deep.alpha = make([]uint16, len(p.deep.alpha))
	}
}

// SetOpacity sets a row of the opacity from values of 0 to 1; others are limited.
func (p *Picture) SetOpacity(row int, src []fp16.Bits) {
	at, top := row*p.Width, p.top()
	for x := range p.Width {
		v := limited(src[x].Float32()*top, top)
		if p.Depth == 16 {
			p.deep.alpha[at+x] = uint16(v)
		} else {
			p.alpha[at+x] = uint8(v)
		}
	}
}
