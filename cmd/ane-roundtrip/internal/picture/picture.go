package picture

import "github.com/anekit/anekit/ane/fp16"

// Picture is a picture of at least one pixel in planes of samples. Open, Decode and
// Like make one. Different rows may be read and written by different goroutines at
// the same time.
type Picture struct {
	Width, Height int // in pixels
	Channels      int // 1: gray; 3: red, green, blue
	Depth         int // bits a sample, 8 or 16
	Orientation   int // as Exif counts it, 1 to 8, before it was applied; 0 if not told
	// Notes say what the file has beside its samples that is not applied.
	Notes []string

	planes [][]uint8 // of Depth 8: one per channel, Height rows of Width samples
	alpha  []uint8   // of Depth 8: opacity in the same form, or nil
	tables *tables   // of Depth 8: never changed
	deep   deep      // of Depth 16
}

// deep holds samples of 16 bits in the same form.
type deep struct {
	planes [][]uint16
	alpha  []uint16
}

// newPicture makes a black one without opacity and tables.
func newPicture(width, height, channels, depth int) *Picture {
	p := &Picture{Width: width, Height: height, Channels: channels, Depth: depth}
	p.blacken()
	return p
}

// blacken gives p planes of its own.
func (p *Picture) blacken() {
	p.planes, p.deep.planes = nil, nil
	for range p.Channels {
		if p.Depth == 16 {
			p.deep.planes = append(p.deep.planes, make([]uint16, p.Width*p.Height))
		} else {
			p.planes = append(p.planes, make([]uint8, p.Width*p.Height))
		}
	}
}

// Like returns a black picture of the same size, depth, channels and opacity, to be
// filled by SetRow.
func (p *Picture) Like() *Picture {
	n := *p
	n.blacken()
	return &n
}

// row returns the samples of a row, of Depth 8.
func (p *Picture) row(channel, row int) []uint8 {
	return p.planes[channel][row*p.Width:][:p.Width]
}

// deepRow returns the samples of a row, of Depth 16.
func (p *Picture) deepRow(channel, row int) []uint16 {
	return p.deep.planes[channel][row*p.Width:][:p.Width]
}

// FillRow writes a row of a picture with its edges replicated: the samples of
// channel, counted from 0, as s/256 (of 16 bits: s/65536, rounded) to
// dst[1:Width+1], the first of them also to dst[0], the last to dst[Width+1]. A row above the picture (-1) is its first
// one, a row below (Height) its last one.
//
// Preconditions: 0 <= channel < Channels, len(dst) >= Width+2.
func (p *Picture) FillRow(dst []fp16.Bits, channel, row int) {
	row = min(max(row, 0), p.Height-1)
	inner := dst[1 : 1+p.Width]
	if p.Depth == 16 {
		encode(inner, p.deepRow(channel, row), 1./(1<<16))
	} else {
		values := &p.tables.values
		for i, s := range p.row(channel, row) {
			inner[i] = values[s]
		}
	}
	replicate(dst, p.Width)
}

// replicate repeats the ends of dst[1:width+1] around it.
func replicate(dst []fp16.Bits, width int) { dst[0], dst[width+1] = dst[1], dst[width] }

// SetRow sets the samples of a row and channel, counted from 0, from
// src[:Width]: 256 times the value, rounded half up, limited to 0..255; of 16 bits
// 65536 times, limited to 0..65535. NaN becomes 0. For what FillRow wrote of 8 bits
// this is exactly the inverse.
//
// Preconditions: 0 <= channel < Channels, 0 <= row < Height, len(src) >= Width.
func (p *Picture) SetRow(channel, row int, src []fp16.Bits) {
	if p.Depth == 16 {
		decode16(p.deepRow(channel, row), src, 1<<16)
		return
	}
	dst := p.row(channel, row)
	samples := &p.tables.samples
	for i, v := range src[:len(dst)] {
		dst[i] = samples[v]
	}
}
