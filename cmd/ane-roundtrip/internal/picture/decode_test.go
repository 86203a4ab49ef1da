package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/color/palette"
	"image/jpeg"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func decoded(t testing.TB, data []byte) *Picture {
	t.Helper()
	p, err := Read(bytes.NewReader(data), "test", MaxPixels)
	require.NoError(t, err)
	return p
}

// TestForms writes every form of image.Image as PNG or JPEG, decodes it, and compares the colors with
// those of the image.Image.
func TestForms(t *testing.T) {
	box := image.Rect(0, 0, 19, 13)
	clear, full := scene(19, 13), scene(19, 13)
	for i := 3; i < len(full.Pix); i += 4 {
		full.Pix[i] = 255
	}
	clearPalette := append(color.Palette{color.NRGBA{200, 100, 50, 70}, color.Transparent}, palette.WebSafe...)
	jpegs := encodedJPEG(t, full)
	fromJPEG, err := jpeg.Decode(bytes.NewReader(jpegs))
	require.NoError(t, err)
	ycbcr := fromJPEG.(*image.YCbCr)
	grayJPEG := encodedJPEG(t, as(image.NewGray(box), full))
	fromGray, err := jpeg.Decode(bytes.NewReader(grayJPEG))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		m        image.Image
		data     []byte
		channels int
		alpha    bool
	}{
		"gray 8":           {m: as(image.NewGray(box), full), channels: 1},
		"color 8":          {m: full, channels: 3},
		"color 8, opacity": {m: clear, channels: 3, alpha: true},
		"palette":          {m: as(image.NewPaletted(box, palette.Plan9), full), channels: 3},
		"palette, opacity": {m: as(image.NewPaletted(box, clearPalette), clear), channels: 3, alpha: true},
		"palette of two": {m: as(image.NewPaletted(box, color.Palette{color.Black, color.RGBA{9, 8, 7, 255}}),
			full), channels: 3},
		"part of a picture":  {m: full.SubImage(image.Rect(3, 2, 11, 9)), channels: 3},
		"JPEG, color, 4:2:0": {m: ycbcr, data: jpegs, channels: 3},
		"JPEG, gray":         {m: fromGray, data: grayJPEG, channels: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if c.data == nil {
				c.data = encoded(t, c.m)
			}
			p := decoded(t, c.data)
			at := c.m.Bounds().Min
			require.Equal(t, c.m.Bounds().Size(), image.Pt(p.Width, p.Height))
			require.Equal(t, c.channels, p.Channels)
			require.Equal(t, c.alpha, p.alpha)
			for y := range p.Height {
				for x := range p.Width {
					require.Equal(t, nearest(c.m.At(at.X+x, at.Y+y)), p.pixel(x, y), "%d,%d", x, y)
				}
			}
		})
	}
}

// nearest rounds a color to 8 bits per sample. JPEG rounds differently.
func nearest(c color.Color) color.NRGBA {
	if j, ok := c.(color.YCbCr); ok {
		r, g, b := color.YCbCrToRGB(j.Y, j.Cb, j.Cr)
		return color.NRGBA{r, g, b, 255}
	}
	wide := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	r := func(v uint16) uint8 { return uint8(math.Round(float64(v) / 65535 * 255)) }
	return color.NRGBA{r(wide.R), r(wide.G), r(wide.B), r(wide.A)}
}

// pixel returns the color that WritePNG writes for a pixel.
func (p *Picture) pixel(x, y int) color.NRGBA {
	px := p.row(y)[x*p.step:][:p.step]
	if p.step == 1 {
		return color.NRGBA{px[0], px[0], px[0], 255}
	}
	return color.NRGBA{px[0], px[1], px[2], px[3]}
}

// TestRawForms decodes forms that the standard library cannot write; the expected colors follow from
// the bytes.
func TestRawForms(t *testing.T) {
	gray := func(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 255} }
	for name, c := range map[string]struct {
		data     []byte
		channels int
		want     []color.NRGBA
	}{
		"gray 1": {pngOf(t, 3, 1, 1, 0, []byte{0, 0b010_00000}), 1, []color.NRGBA{gray(0), gray(255),
			gray(0)}},
		"gray 2": {pngOf(t, 3, 1, 2, 0, []byte{0, 0b01_10_11_00}), 1, []color.NRGBA{gray(85), gray(170),
			gray(255)}},
		"gray 4": {pngOf(t, 2, 1, 4, 0, []byte{0, 0x1e}), 1, []color.NRGBA{gray(17), gray(238)}},
		"gray 8, opacity": {pngOf(t, 2, 1, 8, 4, []byte{0, 10, 20, 30, 255}), 1, []color.NRGBA{{10, 10, 10, 20},
			gray(30)}},
		"gray 8, one clear": {pngOf(t, 2, 1, 8, 0, []byte{0, 10, 11}, chunk("tRNS", []byte{0, 11})), 1,
			[]color.NRGBA{gray(10), {11, 11, 11, 0}}},
		"color, one clear": {pngOf(t, 2, 1, 8, 2, []byte{0, 1, 2, 3, 4, 5, 6},
			chunk("tRNS", []byte{0, 1, 0, 2, 0, 3})), 3,
			[]color.NRGBA{{1, 2, 3, 0}, {4, 5, 6, 255}}},
		"all clear keeps color": {pngOf(t, 1, 1, 8, 6, []byte{0, 9, 8, 7, 0}), 3, []color.NRGBA{{9, 8, 7, 0}}},
		"JPEG, RGB":             {flatJPEG(255, 128, 3), 3, []color.NRGBA{{255, 128, 3, 255}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := decoded(t, c.data)
			require.Equal(t, c.channels, p.Channels)
			for x, want := range c.want {
				require.Equal(t, want, p.pixel(x, 0))
			}
		})
	}
}
