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

// image returns the picture in the form that the encoder is quick for.
func (p *Picture) image() image.Image {
	if p.Depth == 16 {
		return p.deepImage()
	}
	bounds := image.Rect(0, 0, p.Width, p.Height)
	if p.Channels == 1 && p.alpha == nil {
		return &image.Gray{Pix: p.planes[0], Stride: p.Width, Rect: bounds}
	}
	m := image.NewNRGBA(bounds)
	r, g, b := p.planes[0], p.planes[0], p.planes[0]
	if p.Channels == 3 {
		g, b = p.planes[1], p.planes[2]
	}
	for i := range r {
		px := m.Pix[4*i : 4*i+4 : 4*i+4]
		px[0], px[1], px[2], px[3] = r[i], g[i], b[i], 255
	}
	if p.alpha == nil {
		return m
	}
	for i, a := range p.alpha {
		m.Pix[4*i+3] = a
	}
	if m.Opaque() {
		return keepsAlpha{m}
	}
	return m
}

// keepsAlpha makes the encoder write opacity that is full everywhere, at some
// cost of time: it does not know this type.
type keepsAlpha struct{ *image.NRGBA }

func (keepsAlpha) Opaque() bool { return false }
