package picture

import (
	"image"
	"image/png"
	"io"
)

// WritePNG writes the picture as a PNG of the same depth: gray, or red, green and blue. A picture with
// opacity becomes red, green, blue and opacity, also if it is gray, since the encoder has no gray with
// opacity. After an error of w, which it returns, w may hold a part of the file.
func (p *Picture) WritePNG(w io.Writer) error {
	// More time for compression hardly makes a photograph smaller.
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	return e.Encode(w, p.image())
}

// image returns the picture, without a copy, as a type for which the encoder has a fast path.
func (p *Picture) image() image.Image {
	bounds, stride := image.Rect(0, 0, p.Width, p.Height), p.Width*p.pixelBytes()
	switch {
	case p.step == 1 && p.Depth == 16:
		return &image.Gray16{Pix: p.pix, Stride: stride, Rect: bounds}
	case p.step == 1:
		return &image.Gray{Pix: p.pix, Stride: stride, Rect: bounds}
	case p.Depth == 16:
		m := &image.NRGBA64{Pix: p.pix, Stride: stride, Rect: bounds}
		if p.alpha && m.Opaque() {
			return keepsDeepAlpha{m}
		}
		return m
	}
	m := &image.NRGBA{Pix: p.pix, Stride: stride, Rect: bounds}
	if p.alpha && m.Opaque() {
		return keepsAlpha{m}
	}
	return m
}

// keepsAlpha makes the encoder write opacity even if every pixel is opaque. The encoder is slower for
// this type, which it does not know.
type keepsAlpha struct{ *image.NRGBA }

func (keepsAlpha) Opaque() bool { return false }

// keepsDeepAlpha is keepsAlpha for samples of 16 bits.
type keepsDeepAlpha struct{ *image.NRGBA64 }

func (keepsDeepAlpha) Opaque() bool { return false }
