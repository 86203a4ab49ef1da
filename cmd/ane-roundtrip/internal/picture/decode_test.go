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
	p, err := Decode(bytes.NewReader(data), "test")
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
		"gray 8":            {m: as(image.NewGray(box), full), channels: 1},
		"gray 16":           {m: as(image.NewGray16(box), full), channels: 1},
		"color 8":           {m: full, channels: 3},
		"color 16":          {m: as(image.NewRGBA64(box), full), channels: 3},
		"color 8, opacity":  {m: clear, channels: 3, alpha: true},
		"color 16, opacity": {m: as(image.NewNRGBA64(box), clear), channels: 3, alpha: true},
		"palette":           {m: as(image.NewPaletted(box, palette.Plan9), full), channels: 3},
		"palette, opacity":  {m: as(image.NewPaletted(box, clearPalette), clear), channels: 3, alpha: true},
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
			require.Equal(t, c.alpha, p.HasOpacity())
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

// pixel returns the color that WritePNG writes for a pixel, rounded to 8 bits.
func (p *Picture) pixel(x, y int) color.NRGBA {
	row := p.rowBytes(y)
	sample := func(channel int) uint8 {
		v := p.sample(row, channel, x)
		if p.Depth == 16 {
			return uint8((uint32(v) + 128) / 257)
		}
		return uint8(v)
	}
	c := color.NRGBA{sample(0), sample(p.Channels / 2), sample(p.Channels - 1), 255}
	if p.step == 4 {
		c.A = sample(alphaSample)
	}
	return c
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
		"gray 16, opacity": {pngOf(t, 1, 1, 16, 4, []byte{0, 1, 0x81, 2, 0x82}), 1, []color.NRGBA{{1, 1, 1, 2}}},
		"gray 8, one clear": {pngOf(t, 2, 1, 8, 0, []byte{0, 10, 11}, chunk("tRNS", []byte{0, 11})), 1,
			[]color.NRGBA{gray(10), {11, 11, 11, 0}}},
		"color, one clear": {pngOf(t, 2, 1, 8, 2, []byte{0, 1, 2, 3, 4, 5, 6},
			chunk("tRNS", []byte{0, 1, 0, 2, 0, 3})), 3,
			[]color.NRGBA{{1, 2, 3, 0}, {4, 5, 6, 255}}},
		"16 bits are rounded": {pngOf(t, 5, 1, 16, 0, []byte{0, 0, 128, 0, 129, 0x7f, 0xff, 0xff, 0x7e, 0xff, 0x7f}), 1,
			[]color.NRGBA{gray(0), gray(1), gray(127), gray(254), gray(255)}},
		"all clear keeps color": {pngOf(t, 1, 1, 8, 6, []byte{0, 9, 8, 7, 0}), 3, []color.NRGBA{{9, 8, 7, 0}}},
		"JPEG, RGB":             {flatJPEG(255, 128, 3), 3, []color.NRGBA{{255, 128, 3, 255}}},
		"JPEG, CMYK":            {flatJPEG(255, 128, 0, 255), 3, []color.NRGBA{{255, 128, 0, 255}}},
		"JPEG, CMYK, black":     {flatJPEG(255, 255, 255, 51), 3, []color.NRGBA{gray(51)}},
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
