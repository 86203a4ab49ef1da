package picture

import (
	"image"
	"image/color"
	"image/draw"
)

// fromImage takes over a decoded picture of at least one pixel; gray tells that
// its three colours are equal.
func fromImage(img image.Image, gray bool) *Picture {
	if _, ok := img.(*image.Gray); ok { // a JPEG
		gray = true
	}
	channels := 3
	if gray {
		channels = 1
	}
	size := img.Bounds().Size()
	if row, alpha := deepRowsOf(img); row != nil {
		p := newPicture(size.X, size.Y, channels, 16)
		if alpha {
			p.deep.alpha = make([]uint16, size.X*size.Y)
		}
		for y := range size.Y {
			p.splitDeep(y, row(y))
		}
		return p
	}
	p := newPicture(size.X, size.Y, channels, 8)
	p.tables = newTables()
	row, alpha := rowsOf(img)
	if alpha {
		p.alpha = make([]uint8, size.X*size.Y)
	}
	for y := range size.Y {
		p.split(y, row(y))
	}
	return p
}

// split takes over a row of red, green, blue, opacity. For a gray picture the
// first stands for all colours.
func (p *Picture) split(y int, pixels []uint8) {
	if len(p.planes) == 1 {
		every4th(p.row(0, y), pixels)
	} else {
		r, g, b := p.row(0, y), p.row(1, y), p.row(2, y)
		for x := range r {
			px := pixels[4*x : 4*x+4 : 4*x+4]
			r[x], g[x], b[x] = px[0], px[1], px[2]
		}
	}
	if p.alpha != nil {
		every4th(p.alpha[y*p.Width:][:p.Width], pixels[3:])
	}
}

func every4th(dst, src []uint8) {
	for x := range dst {
		dst[x] = src[4*x]
	}
}

// rowsOf gives the pixels of a row as bytes red, green, blue, opacity, not
// premultiplied and valid until the next call. alpha tells whether the file has
// opacity. The decoders give image.RGBA only where it has none.
func rowsOf(img image.Image) (row func(y int) []uint8, alpha bool) {
	at, w := img.Bounds().Min, img.Bounds().Dx()
	buf := image.NewRGBA(image.Rect(0, 0, w, 1))
	out := buf.Pix
	switch m := img.(type) {
	case *image.RGBA:
		return func(y int) []uint8 { return m.Pix[m.PixOffset(at.X, at.Y+y):][:4*w] }, false
	case *image.NRGBA:
		return func(y int) []uint8 { return m.Pix[m.PixOffset(at.X, at.Y+y):][:4*w] }, true
	case *image.Paletted:
		colors, alpha := paletteOf(m.Palette)
		return func(y int) []uint8 {
			for x, i := range m.Pix[m.PixOffset(at.X, at.Y+y):][:w] {
				copy(out[4*x:], colors[i][:])
			}
			return out
		}, alpha
	}
	// Gray, YCbCr and CMYK, which have no opacity.
	return func(y int) []uint8 {
		draw.Draw(buf, buf.Rect, img, at.Add(image.Pt(0, y)), draw.Src)
		return out
	}, false
}

// paletteOf lays a palette out by index. Opaque black stands for indices that
// the palette lacks, as in the decoder.
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
