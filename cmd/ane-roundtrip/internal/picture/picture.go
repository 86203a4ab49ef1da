package picture

import "github.com/anekit/anekit/ane/fp16"

// Picture is a picture of at least one pixel in planes of 8-bit samples. Open,
// Decode and Like make one. Different rows may be read and written by different
// goroutines at the same time.
type Picture struct {
	Width, Height int // in pixels
	Channels      int // 1: gray; 3: red, green, blue

	planes [][]uint8 // one per channel, Height rows of Width samples
	alpha  []uint8   // opacity in the same form, or nil; never changed
	tables *tables   // never changed
}

// newPicture makes a black one without opacity and tables.
func newPicture(width, height, channels int) *Picture {
	p := &Picture{Width: width, Height: height, Channels: channels}
	for range channels {
		p.planes = append(p.planes, make([]uint8, width*height))
	}
	return p
}

// Like returns a black picture of the same size, channels and opacity, to be
// filled by SetRow.
func (p *Picture) Like() *Picture {
	n := newPicture(p.Width, p.Height, p.Channels)
	n.alpha, n.tables = p.alpha, p.tables
	return n
}

// row returns the samples of a row.
func (p *Picture) row(channel, row int) []uint8 {
	return p.planes[channel][row*p.Width:][:p.Width]
}

// FillRow writes a row of a picture with its edges replicated: the samples of
// channel, counted from 0, as s/256 to dst[1:Width+1], the first of them also to
// dst[0], the last to dst[Width+1]. A row above the picture (-1) is its first
// one, a row below (Height) its last one.
//
// Preconditions: 0 <= channel < Channels, len(dst) >= Width+2.
func (p *Picture) FillRow(dst []fp16.Bits, channel, row int) {
	src := p.row(channel, min(max(row, 0), p.Height-1))
	values := &p.tables.values
	inner := dst[1 : 1+len(src)]
	for i, s := range src {
		inner[i] = values[s]
	}
	dst[0], dst[len(src)+1] = inner[0], inner[len(src)-1]
}

// SetRow sets the samples of a row and channel, counted from 0, from
// src[:Width]: 256 times the value, rounded half up, limited to 0..255. NaN
// becomes 0. For what FillRow wrote this is exactly the inverse.
//
// Preconditions: 0 <= channel < Channels, 0 <= row < Height, len(src) >= Width.
func (p *Picture) SetRow(channel, row int, src []fp16.Bits) {
	dst := p.row(channel, row)
	samples := &p.tables.samples
	for i, v := range src[:len(dst)] {
		dst[i] = samples[v]
	}
}
