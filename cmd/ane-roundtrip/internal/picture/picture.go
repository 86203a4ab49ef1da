// Package picture converts PNG and JPEG files to rows of fp16 tensors, and such rows to PNG files.
//
// It reads PNG and JPEG (baseline and progressive) of 8 bits per channel or fewer: gray, palette or color. It refuses
// samples of 16 bits and inks (CMYK). It applies the Exif orientation, but no color profile, and reads only the still
// picture of an animation; [Picture.Notes] names what it ignored.
//
// Decoding takes up to 19 bytes a pixel, for a progressive JPEG. A Picture takes one or four, and is filtered in place.
package picture

import (
	"image"
	"image/png"
	"io"

	"github.com/anekit/anekit/ane/fp16"
)

// Picture is a picture of at least one pixel, made by Read. Goroutines may read and write different rows at the same
// time, except during Keep.
//
// Samples have 8 bits; in a tensor a sample s is s/256, which fp16 represents exactly, times the opacity of its pixel.
// Channels are counted from 0. The one after the last color, number Channels, is the opacity of a translucent picture.
type Picture struct {
	Width, Height int      // in pixels
	Channels      int      // of color. 1: gray; 3: red, green, blue
	Orientation   int      // of the file, 1 to 8 as in Exif; Read has applied it; 0 if the file has none
	Notes         []string // on what Read ignored
	// Translucent is set if a pixel of the file is not opaque. FillRow then multiplies colors by opacity, and SetRow
	// divides them.
	Translucent bool

	pix     []uint8 // rows of pixels in the form of the decoder and the encoder
	stride  int     // bytes from a row to the next
	step    int     // samples per pixel: 1, or 4 with opacity last
	alpha   bool    // the file has opacity; else every fourth sample is opaque
	kept    []uint8 // a copy of row keptRow; nil for none
	keptRow int
}

// New returns a black picture without opacity, of 1 or 3 channels.
func New(width, height, channels int) *Picture {
	p := &Picture{Width: width, Height: height, Channels: channels, step: 1}
	if channels > 1 {
		p.step = alphaSample + 1
	}
	p.stride = width * p.step
	p.pix = make([]uint8, p.stride*height)
	for i := alphaSample; p.step > 1 && i < len(p.pix); i += p.step {
		p.pix[i] = 255
	}
	return p
}

// alphaSample is the index of the opacity in a pixel.
const alphaSample = 3

func (p *Picture) row(y int) []uint8 { return p.pix[y*p.stride:][:p.Width*p.step] }

// Keep copies a row. FillRow reads the copy, also after SetRow changed the row, until the next call of Keep.
//
// Preconditions: 0 <= y < Height.
func (p *Picture) Keep(y int) { p.keptRow, p.kept = y, append(p.kept[:0:0], p.row(y)...) }

// chunkSize is the number of samples that are converted at a time, on the stack.
const chunkSize = 256

// FillRow writes a row of a channel to dst[1:Width+1], and repeats its edges in dst[0] and dst[Width+1]. A sample s
// becomes s/256, times the opacity of the pixel. Opacity becomes 0 to 1. A row above the picture (-1) is the first row,
// a row below it (Height) the last row.
//
// Preconditions: channel is below Channels, or Channels of a translucent picture; len(dst) >= Width+2.
func (p *Picture) FillRow(dst []fp16.Bits, channel, y int) {
	y = min(max(y, 0), p.Height-1)
	pixels := p.row(y)
	if p.kept != nil && y == p.keptRow {
		pixels = p.kept
	}
	var values [chunkSize]float32
	step := p.step
	for x := 0; x < p.Width; x += chunkSize {
		value, pixels := values[:min(p.Width-x, chunkSize)], pixels[x*step:]
		switch {
		case channel == p.Channels:
			opacities(value, pixels)
		case p.Translucent:
			opacities(value, pixels)
			for i, opacity := range value {
				value[i] = float32(pixels[4*i+channel]) * opacity * (1. / 256)
			}
		default:
			for i := range value {
				value[i] = float32(pixels[i*step+channel]) * (1. / 256)
			}
		}
		fp16.Encode(dst[1+x:], value)
	}
	dst[0], dst[p.Width+1] = dst[1], dst[p.Width]
}

// opacities returns the opacity of pixels of four samples, from 0 to 1.
func opacities(dst []float32, pixels []uint8) {
	for i := range dst {
		dst[i] = float32(pixels[4*i+alphaSample]) / 255
	}
}

// SetRow sets the samples of a row and channel from src[:Width]: 256 times the value, divided by the opacity of the
// pixel; of opacity 255 times. It rounds half up and limits to 0..255; NaN becomes 0, and a color without opacity too.
// The opacity is that of the picture, or opacity[:Width] if opacity is not nil. SetRow is the exact inverse of FillRow
// for a picture that is not translucent.
//
// Preconditions: those of FillRow; 0 <= y < Height, len(src) >= Width.
func (p *Picture) SetRow(channel, y int, src, opacity []fp16.Bits) {
	row, step := p.row(y), p.step
	var values, parts [chunkSize]float32
	for x := 0; x < p.Width; x += chunkSize {
		n := min(p.Width-x, chunkSize)
		value, part, pixels := values[:n], parts[:n], row[x*step:]
		fp16.Decode(value, src[x:x+n])
		if channel == p.Channels {
			for i, v := range value {
				pixels[4*i+alphaSample] = level(float32(v * 255))
			}
			continue
		}
		switch {
		case opacity != nil:
			fp16.Decode(part, opacity[x:x+n])
		case p.Translucent:
			opacities(part, pixels)
		default:
			part = nil
		}
		for i, o := range part {
			if value[i] /= o; o <= 0 {
				value[i] = 0
			}
		}
		for i, v := range value {
			pixels[i*step+channel] = level(v * 256)
		}
		if p.Channels == 1 && step > 1 {
			for i := range value {
				pixels[4*i+1], pixels[4*i+2] = pixels[4*i], pixels[4*i]
			}
		}
	}
}

// SetSamples sets the samples of a row and color channel from src[:Width], from 0 to 255. It rounds and limits as SetRow
// does.
//
// Preconditions: channel is below Channels, 0 <= y < Height, len(src) >= Width; the picture is not translucent.
func (p *Picture) SetSamples(channel, y int, src []float32) {
	row := p.row(y)
	for x, v := range src[:p.Width] {
		row[x*p.step+channel] = level(v)
	}
}

// level rounds half up and limits to 0..255.
func level(v float32) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(v, 255) + 0.5)
}

// WritePNG writes the picture as a PNG: gray, or red, green and blue. A picture with opacity becomes red, green, blue
// and opacity, also if it is gray, since the encoder has no gray with opacity. After an error of w, which it returns, w
// may hold a part of the file.
func (p *Picture) WritePNG(w io.Writer) error {
	e := png.Encoder{CompressionLevel: png.BestSpeed} // more time hardly makes a photograph smaller
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if p.step == 1 {
		return e.Encode(w, &image.Gray{Pix: p.pix, Stride: p.stride, Rect: bounds})
	}
	m := &image.NRGBA{Pix: p.pix, Stride: p.stride, Rect: bounds}
	if p.alpha && m.Opaque() {
		return e.Encode(w, keepsAlpha{m})
	}
	return e.Encode(w, m)
}

// keepsAlpha makes the encoder write opacity even if every pixel is opaque. The encoder is slower for this type.
type keepsAlpha struct{ *image.NRGBA }

func (keepsAlpha) Opaque() bool { return false }
