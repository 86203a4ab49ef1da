package picture

import (
	"image"
	"image/png"
	"io"
)

// WritePNG writes the picture as a PNG of its depth: gray, or red, green
// and blue; with opacity, if the picture has it, always as red, green, blue and
// opacity, since the encoder knows no gray with opacity. It stops at the first
// error of w and returns it; w may then hold a part.
func (p *Picture) WritePNG(w io.Writer) error {
	// The noise of a photograph hardly shrinks however long it is worked on.
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	return e.Encode(w, p.image())
}

// image returns the picture in the form that the encoder is quick for, on its own memory.
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

// keepsAlpha makes the encoder write opacity that is full everywhere, at some
// cost of time: it does not know this type.
type keepsAlpha struct{ *image.NRGBA }

func (keepsAlpha) Opaque() bool { return false }

// keepsDeepAlpha is keepsAlpha for 16 bits.
type keepsDeepAlpha struct{ *image.NRGBA64 }

func (keepsDeepAlpha) Opaque() bool { return false }
