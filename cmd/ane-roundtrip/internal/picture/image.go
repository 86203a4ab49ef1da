package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// fromImage returns a Picture with the pixels of img, which has at least one. It uses the memory of img
// if the encoder knows its type. gray means that the three colors of each pixel are equal.
func fromImage(img image.Image, gray bool) *Picture {
	size := img.Bounds().Size()
	p := &Picture{Width: size.X, Height: size.Y, Channels: 3, Depth: 8, step: 4}
	whole := func(pix []uint8, stride int) {
		n := p.Width * p.pixelBytes()
		for y := 1; stride != n && y < p.Height; y++ { // the decoder of JPEG pads rows
			copy(pix[y*n:][:n], pix[y*stride:])
		}
		p.pix = pix[:n*p.Height]
	}
	switch m := img.(type) {
	case *image.Gray:
		gray, p.step = true, 1
		whole(m.Pix, m.Stride)
	case *image.Gray16:
		gray, p.step, p.Depth = true, 1, 16
		whole(m.Pix, m.Stride)
	case *image.RGBA: // the decoders return it only for pictures without opacity
		whole(m.Pix, m.Stride)
	case *image.NRGBA:
		p.alpha = true
		whole(m.Pix, m.Stride)
	case *image.RGBA64: // also without opacity
		p.Depth = 16
		whole(m.Pix, m.Stride)
	case *image.NRGBA64:
		p.Depth, p.alpha = 16, true
		whole(m.Pix, m.Stride)
	}
	if gray {
		p.Channels = 1
	}
	if p.pix == nil {
		p.convert(img)
	} else if p.Depth == 8 {
		p.tables = newTables()
	}
	return p
}

// convert copies a decoded picture of 8 bits into pixels of four samples.
func (p *Picture) convert(img image.Image) {
	p.pix = make([]uint8, p.Width*p.Height*p.pixelBytes())
	at := img.Bounds().Min
	if m, ok := img.(*image.Paletted); ok {
		colors, alpha := paletteOf(m.Palette)
		p.alpha = alpha
		for y := range p.Height {
			row := p.rowBytes(y)
			for x, i := range m.Pix[m.PixOffset(at.X, at.Y+y):][:p.Width] {
				copy(row[4*x:], colors[i][:])
			}
		}
	} else { // YCbCr and CMYK, which have no opacity
		if _, inks := img.(*image.CMYK); inks {
			p.Notes = append(p.Notes, "the inks (CMYK) are converted to red, green and blue without a color profile")
		}
		out := &image.RGBA{Pix: p.pix, Stride: 4 * p.Width, Rect: image.Rect(0, 0, p.Width, p.Height)}
		draw.Draw(out, out.Rect, img, at, draw.Src)
	}
	p.tables = newTables()
}

// paletteOf returns the colors of a palette by index. Indices that the palette lacks are opaque black,
// as in the decoder.
func paletteOf(p color.Palette) (colors [256][4]uint8, alpha bool) {
	for i := range colors {
		colors[i][3] = 255
	}
	for i, c := range p[:min(len(p), len(colors))] {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		colors[i] = [4]uint8{n.R, n.G, n.B, n.A}
		alpha = alpha || n.A != 255
	}
	return colors, alpha
}
