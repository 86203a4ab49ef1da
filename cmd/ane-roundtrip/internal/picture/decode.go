package picture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"syscall"

	"github.com/anekit/anekit/internal/wholefile"
)

// Limits of a picture. The engine allows 16384 elements on an axis of a tensor; two of them repeat the edge pixels.
const (
	MaxSide   = 16384 - 2
	MaxPixels = 64 << 20
)

// A PNG starts with its signature and the IHDR chunk, which has the color type (PNG third edition, 5.2 and 11.2.1).
const pngSignature, pngColorType, pngColorBit = "\x89PNG\r\n\x1a\n", 25, 2

// Error is the only type of error that Read returns.
type Error struct {
	File string // the name that Read was given
	What string // the fault
	Fix  string // the remedy
	Err  error  // the cause, from the decoder or the operating system, or nil
}

// Error is one line: FILE: what: cause; fix.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %s; %s", e.File, e.What, e.Fix)
	}
	return fmt.Sprintf("%s: %s: %v; %s", e.File, e.What, e.Err, e.Fix)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Read reads a picture of at most maxPixels from r, and ignores the bytes after it. Errors are of type *Error, contain
// name and wrap an error of r.
func Read(r io.Reader, name string, maxPixels int) (*Picture, error) {
	refuse := func(what, fix string) (*Picture, error) { return nil, &Error{File: name, What: what, Fix: fix} }
	const samples, metadata = 4, 32 << 20 // bytes of a pixel that is not compressed, and of all else
	in := &source{r: io.LimitReader(r, int64(samples*maxPixels+metadata))}
	config, format, err := image.DecodeConfig(in)
	w, h := config.Width, config.Height
	switch model := config.ColorModel; {
	case err != nil:
		return nil, in.fault(name, format, err)
	case w < 1 || h < 1:
		return refuse(fmt.Sprintf("the picture has %dx%d pixels", w, h), "give one of at least 1x1")
	case w > MaxSide || h > MaxSide || w*h > maxPixels:
		return refuse(fmt.Sprintf("the picture has %dx%d pixels, more than %d a side or %d in all", w, h, MaxSide,
			maxPixels), "scale or crop it")
	case model == color.CMYKModel:
		return refuse("the picture has inks (CMYK)",
			"convert it to RGB, for example with ImageMagick: magick IN -colorspace sRGB OUT.png")
	case model == color.Gray16Model || model == color.RGBA64Model || model == color.NRGBA64Model:
		return refuse("the picture has 16 bits per channel",
			"convert it to 8 bits, for example with ImageMagick: magick IN -depth 8 OUT.png")
	}
	img, _, err := image.Decode(io.MultiReader(bytes.NewReader(in.data), in))
	if err != nil {
		return nil, in.fault(name, format, err)
	}
	p := fromImage(img, format == "png" && in.data[pngColorType]&pngColorBit == 0)
	p.readChunks(in.data)
	p.readSegments(in.data)
	p.orient()
	return p, nil
}

// fromImage returns a Picture with the pixels of a decoded picture of 8 bits. gray means that the three colors of each
// pixel are equal.
func fromImage(img image.Image, gray bool) *Picture {
	p := &Picture{Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), Channels: 3, step: 4}
	if gray {
		p.Channels = 1
	}
	switch m := img.(type) {
	case *image.Gray:
		p.Channels, p.step, p.pix, p.stride = 1, 1, m.Pix, m.Stride
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
		p = fromImage(out, false)
		p.alpha = p.Translucent
	default: // YCbCr, or RGBA, which the decoders return only for pictures without opacity
		out := image.NewRGBA(img.Bounds())
		draw.Draw(out, out.Rect, img, out.Rect.Min, draw.Src)
		p.pix, p.stride = out.Pix, out.Stride
	}
	return p
}

// source keeps what was read, and the error of the reader, which decoders return in the same way as their own.
type source struct {
	r    io.Reader
	data []byte
	err  error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.data = append(s.data, b[:n]...)
	if err != io.EOF {
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// fault turns the error of a decoder into an Error.
func (s *source) fault(name, format string, err error) *Error {
	format = strings.ToUpper(format)
	switch {
	case errors.Is(s.err, syscall.EISDIR):
		return &Error{name, "this is a folder", "name a PNG or JPEG file", nil}
	case s.err != nil:
		return &Error{name, "cannot read the file", "check the path, its permissions and its device",
			wholefile.Cause(s.err)}
	case errors.Is(err, image.ErrFormat):
		return &Error{name, otherName(string(s.data[:min(len(s.data), 64)])), "give a PNG or JPEG file", nil}
	case errors.As(err, new(png.UnsupportedError)), errors.As(err, new(jpeg.UnsupportedError)):
		return &Error{name, "this form of " + format + " cannot be read",
			"save it as a PNG or JPEG with 8 bits per channel", err}
	}
	return &Error{name, "the " + format + " is damaged or incomplete", "copy or save it again", err}
}

// others are the names of other kinds of files, by the text at a position.
var others = [...]struct {
	at         int
	text, name string
}{
	{0, "GIF8", "a GIF"},
	{8, "WEBP", "a WebP picture"},
	{0, "BM", "a BMP picture"},
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
	control := func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f", r) }
	switch {
	case start == "":
		return "the file is empty"
	case strings.ContainsFunc(start, control):
		return "this is neither PNG nor JPEG"
	}
	return "this is a text file"
}
