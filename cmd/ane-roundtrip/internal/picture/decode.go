package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"syscall"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/wholefile"
)

// Limits of a picture. The engine allows 16384 elements on an axis of a tensor; two of them repeat the edge pixels.
const (
	MaxSide   = 16384 - 2
	MaxPixels = 64 << 20
)

// A PNG starts with its signature and the IHDR chunk, which has the color type (PNG third edition, 5.2 and 11.2.1).
const pngSignature, pngColorType, pngColorBit = "\x89PNG\r\n\x1a\n", 25, 2

// Read reads a picture of at most maxPixels from r, and ignores the bytes after it. Errors are bad input: they contain
// name, a hint and an error of r.
func Read(r io.Reader, name string, maxPixels int) (*Picture, error) {
	const metadata = 32 << 20 // the most bytes of a JPEG before its size, such as a color profile
	p, lead := new(Picture), new(bytes.Buffer)
	in := newSource(r, p)
	config, format, err := image.DecodeConfig(io.TeeReader(io.LimitReader(in, metadata), lead))
	w, h := config.Width, config.Height
	switch model := config.ColorModel; {
	case err != nil:
		return nil, in.fault(name, format, err)
	case w < 1 || h < 1:
		return nil, cli.Badf("%s: the picture has %dx%d pixels; give one of at least 1x1", name, w, h)
	case w > MaxSide || h > MaxSide || w*h > maxPixels:
		return nil, cli.Badf("%s: the picture has %dx%d pixels, more than %d a side or %d in all; scale or crop it", name,
			w, h, MaxSide, maxPixels)
	case model == color.CMYKModel:
		return nil, cli.Badf("%s: the picture has inks (CMYK); convert it to RGB, for example with ImageMagick: "+
			"magick IN -colorspace sRGB OUT.png", name)
	case model == color.Gray16Model || model == color.RGBA64Model || model == color.NRGBA64Model:
		return nil, cli.Badf("%s: the picture has 16 bits per channel; convert it to 8 bits, for example with "+
			"ImageMagick: magick IN -depth 8 OUT.png", name)
	}
	img, _, err := image.Decode(io.MultiReader(lead, in))
	if err != nil {
		return nil, in.fault(name, format, err)
	}
	p.setImage(img, in.png && in.start[pngColorType]&pngColorBit == 0)
	p.orient()
	return p, nil
}

// setImage takes the pixels of a decoded picture of 8 bits. gray means that the three colors of each pixel are equal.
func (p *Picture) setImage(img image.Image, gray bool) {
	p.Width, p.Height, p.Channels, p.step = img.Bounds().Dx(), img.Bounds().Dy(), 3, 4
	if gray {
		p.Channels = 1
	}
	switch m := img.(type) {
	case *image.Gray:
		p.Channels, p.step, p.pix, p.stride = 1, 1, m.Pix, m.Stride
	case *image.RGBA: // the decoders return it only for pictures without opacity
		p.pix, p.stride = m.Pix, m.Stride
	case *image.NRGBA:
		p.pix, p.stride, p.alpha, p.Translucent = m.Pix, m.Stride, true, !m.Opaque()
	case *image.Paletted:
		var colors [256][]uint8
		for i, c := range m.Palette {
			rgba := color.NRGBAModel.Convert(c).(color.NRGBA)
			colors[i] = []uint8{rgba.R, rgba.G, rgba.B, rgba.A}
		}
		out := image.NewNRGBA(m.Rect)
		for i, index := range m.Pix {
			copy(out.Pix[4*i:], colors[index])
		}
		p.setImage(out, false)
		p.alpha = p.Translucent
	default: // YCbCr
		out := image.NewRGBA(img.Bounds())
		draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
		p.pix, p.stride = out.Pix, out.Stride
	}
}

// fault explains the error of a decoder.
func (s *source) fault(name, format string, err error) error {
	format = strings.ToUpper(format)
	switch {
	case errors.Is(s.err, syscall.EISDIR):
		return cli.Badf("%s: this is a folder; name a PNG or JPEG file", name)
	case s.err != nil:
		return cli.Badf("%s: cannot read the file: %w; check the path, its permissions and its device", name,
			wholefile.Cause(s.err))
	case errors.Is(err, image.ErrFormat):
		return cli.Badf("%s: %s; give a PNG or JPEG file", name, otherName(s.start))
	case s.coded != "":
		return cli.Badf("%s: the JPEG has %s coding, which cannot be read; save it with Huffman coding, for example with "+
			"jpegtran -outfile OUT.jpg IN.jpg, or as a PNG", name, s.coded)
	case errors.As(err, new(png.UnsupportedError)), errors.As(err, new(jpeg.UnsupportedError)):
		return cli.Badf("%s: this form of %s cannot be read: %w; save it as a PNG or JPEG with 8 bits per channel", name,
			format, err)
	}
	return cli.Badf("%s: the %s is damaged or incomplete: %w; copy or save it again", name, format, err)
}

// others are the names of other kinds of files, by the text at a position.
var others = [...]struct {
	at         int
	text, name string
}{
	{0, "GIF8", "a GIF"}, {0, "BM", "a BMP picture"},
	{8, "WEBP", "a WebP picture"},
	{0, "II*\x00", "a TIFF picture"}, {0, "MM\x00*", "a TIFF picture"},
	{4, "ftypavi", "an AVIF picture"},
	{4, "ftyphei", "a HEIC picture"}, {4, "ftypmif1", "a HEIC picture"},
	{4, "ftyp", "a movie (MP4 or QuickTime)"},
	{0, "\x00\x00\x00\x0cJXL ", "a JPEG XL picture"}, {0, "\xff\x0a", "a JPEG XL picture"},
	{0, "%PDF", "a PDF document"},
}

// otherName describes a file that is neither PNG nor JPEG by its start.
func otherName(start string) string {
	for _, o := range others {
		if strings.HasPrefix(start[min(o.at, len(start)):], o.text) {
			return "this is " + o.name
		}
	}
	switch {
	case start == "":
		return "the file is empty"
	case strings.ContainsFunc(start, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }):
		return "this is neither PNG nor JPEG"
	}
	return "this is a text file"
}
