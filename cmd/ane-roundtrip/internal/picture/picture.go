package picture

import "github.com/anekit/anekit/ane/fp16"

// Picture is a picture of at least one pixel, made by Open or Decode. Goroutines may read and
// write different rows at the same time, except during Keep.
type Picture struct {
	Width, Height int // in pixels
	Channels      int // 1: gray; 3: red, green, blue
	Depth         int // bits per sample, 8 or 16
	Orientation   int // of the file, 1 to 8 as in Exif; Decode has applied it; 0 if the file has none
	// Notes name metadata of the file that Decode did not apply.
	Notes []string

	pix    []uint8 // rows of pixels in the form of the decoder and the encoder
	step   int     // samples per pixel: 1, or 4 with opacity last
	alpha  bool    // the file has opacity; else every fourth sample is opaque
	tables *tables // for Depth 8; never changed
	kept   keptRow
}

// keptRow is a copy of a row from before SetRow changed it.
type keptRow struct {
	row int
	pix []uint8 // nil for none
}

// pixelBytes is the size of a pixel.
func (p *Picture) pixelBytes() int { return p.step * p.Depth / 8 }

// rowBytes returns the pixels of a row.
func (p *Picture) rowBytes(row int) []uint8 {
	n := p.Width * p.pixelBytes()
	return p.pix[row*n:][:n]
}

// source returns the pixels of a row for reading, or its copy if Keep kept it. A row above the picture
// is the first row, a row below it the last row.
func (p *Picture) source(row int) []uint8 {
	row = min(max(row, 0), p.Height-1)
	if p.kept.pix != nil && row == p.kept.row {
		return p.kept.pix
	}
	return p.rowBytes(row)
}

// Keep copies a row. FillRow, FillOver and FillOpacity read the copy, also after SetRow, SetOver or
// SetOpacity changed the row, until the next call of Keep.
//
// Preconditions: 0 <= row < Height.
func (p *Picture) Keep(row int) {
	p.kept = keptRow{row, append(p.kept.pix[:0:0], p.rowBytes(row)...)}
}

// FillRow writes a row of a channel, counted from 0, with its edges repeated: sample s as s/256 (of 16
// bits: s/65536, rounded) to dst[1:Width+1], the first one also to dst[0], the last one also to
// dst[Width+1]. A row above the picture (-1) is the first row, a row below it (Height) the last row.
//
// Preconditions: 0 <= channel < Channels, len(dst) >= Width+2.
func (p *Picture) FillRow(dst []fp16.Bits, channel, row int) {
	src, inner := p.source(row), dst[1:1+p.Width]
	if p.Depth == 16 {
		encode(inner, src[2*channel:], p.pixelBytes(), 1./(1<<16))
	} else {
		values, step := &p.tables.values, p.step
		src = src[channel:]
		for i := range inner {
			inner[i] = values[src[i*step]]
		}
	}
	replicate(dst, p.Width)
}

// replicate repeats the ends of dst[1:width+1] around it.
func replicate(dst []fp16.Bits, width int) { dst[0], dst[width+1] = dst[1], dst[width] }

// SetRow sets the samples of a row and channel, counted from 0, from src[:Width]: 256 times the value,
// rounded half up, limited to 0..255; of 16 bits 65536 times, limited to 0..65535. NaN becomes 0.
// SetRow is the exact inverse of FillRow for samples of 8 bits.
//
// Preconditions: 0 <= channel < Channels, 0 <= row < Height, len(src) >= Width.
func (p *Picture) SetRow(channel, row int, src []fp16.Bits) {
	dst := p.rowBytes(row)
	if p.Depth == 16 {
		decode16(dst[2*channel:], p.pixelBytes(), src[:p.Width], 1<<16)
	} else {
		samples, step := &p.tables.samples, p.step
		out := dst[channel:]
		for i, v := range src[:p.Width] {
			out[i*step] = samples[v]
		}
	}
	p.spread(dst)
}

// spread copies the first color of each pixel to the others, for a gray picture with opacity.
func (p *Picture) spread(row []uint8) {
	if p.Channels != 1 || p.step == 1 {
		return
	}
	n, size := p.Depth/8, p.pixelBytes()
	for at := 0; at < len(row); at += size {
		px := row[at : at+size]
		copy(px[n:2*n], px)
		copy(px[2*n:3*n], px)
	}
}
