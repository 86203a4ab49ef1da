package picture

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
)

// fromImage returns a Picture with the pixels of a decoded picture of 8 bits, without a copy if the encoder knows its
// type. gray means that the three colors of each pixel are equal.
func fromImage(img image.Image, gray bool) *Picture {
	size := img.Bounds().Size()
	p := &Picture{Width: size.X, Height: size.Y, Channels: 3, step: 4}
	if gray {
		p.Channels = 1
	}
	switch m := img.(type) {
	case *image.Gray:
		p.Channels, p.step, p.pix, p.stride = 1, 1, m.Pix, m.Stride
	case *image.RGBA: // the decoders return it only for pictures without opacity
		p.pix, p.stride = m.Pix, m.Stride
	case *image.NRGBA:
		p.pix, p.stride, p.alpha, p.translucent = m.Pix, m.Stride, true, !m.Opaque()
	case *image.Paletted:
		var colors [256]color.NRGBA
		clear := false // whether the palette has opacity
		for i, c := range m.Palette {
			colors[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
			clear = clear || colors[i].A != 0xff
		}
		out := image.NewNRGBA(m.Rect)
		for i, index := range m.Pix {
			copy(out.Pix[4*i:], []uint8{colors[index].R, colors[index].G, colors[index].B, colors[index].A})
		}
		p = fromImage(out, false)
		p.alpha = clear
	default: // YCbCr
		out := image.NewRGBA(img.Bounds())
		draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
		p = fromImage(out, false)
	}
	return p
}

// WritePNG writes the picture as a PNG: gray, or red, green and blue. A picture with opacity becomes red, green, blue
// and opacity, also if it is gray, since the encoder has no gray with opacity. After an error of w, which it returns, w
// may hold a part of the file.
func (p *Picture) WritePNG(w io.Writer) error {
	// More time for compression hardly makes a photograph smaller.
	e := png.Encoder{CompressionLevel: png.BestSpeed}
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

// keepsAlpha makes the encoder write opacity even if every pixel is opaque. The encoder is slower for
// this type, which it does not know.
type keepsAlpha struct{ *image.NRGBA }

func (keepsAlpha) Opaque() bool { return false }
