package picture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"

	"github.com/anekit/anekit/internal/wholefile"
)

// Limits of a picture. The engine allows 16384 elements on an axis of a tensor; two of them are the
// repeated edge pixels.
const (
	MaxSide   = 16384 - 2
	MaxPixels = 64 << 20
)

// maxMetadata is the most bytes of a JPEG before its size: 255 parts of a color profile at 64 KiB each
// (ICC.1, annex B.4), and the same amount of other data.
const maxMetadata = 32 << 20

// Read reads a picture from an open file, which may be a pipe, and ignores the bytes after it. Errors are of type
// *Error, contain name and wrap an error of the file.
func Read(f fs.File, name string) (*Picture, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(name, err)
	}
	if info.IsDir() {
		return nil, &Error{File: name, What: "this is a folder", Fix: "name a PNG or JPEG file"}
	}
	return decode(f, name, MaxPixels)
}

// decode reads a picture of at most maxPixels from r.
func decode(r io.Reader, name string, maxPixels int) (*Picture, error) {
	source := &errorReader{r: r}
	in := bufio.NewReaderSize(source, lookahead)
	start, err := in.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, unreadable(name, err)
	}
	format, gray, other := formatOf(start)
	if other != "" {
		return nil, &Error{File: name, What: other, Fix: "give a PNG or JPEG file"}
	}
	parts := newMetadata(in, format.name == "PNG")
	var lead bytes.Buffer // bytes up to the size, which the decoder reads a second time
	config, err := format.config(io.TeeReader(io.LimitReader(parts, maxMetadata), &lead))
	if err != nil {
		return nil, source.fault(name, format.name, err)
	}
	w, h := config.Width, config.Height
	if w < 1 || h < 1 {
		return nil, &Error{File: name, What: fmt.Sprintf("the picture has %dx%d pixels", w, h),
			Fix: "give one of at least 1x1"}
	}
	if w > MaxSide || h > MaxSide || w*h > maxPixels {
		return nil, &Error{
			File: name, What: fmt.Sprintf("the picture has %dx%d pixels, more than %d a side or %d in all", w, h,
				MaxSide, maxPixels),
			Fix: "scale or crop it",
		}
	}
	switch config.ColorModel {
	case color.CMYKModel:
		return nil, &Error{File: name, What: "the picture has inks (CMYK)",
			Fix: "convert it to RGB, for example with ImageMagick: magick IN -colorspace sRGB OUT.png"}
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return nil, &Error{File: name, What: "the picture has 16 bits per channel",
			Fix: "convert it to 8 bits, for example with ImageMagick: magick IN -depth 8 OUT.png"}
	}
	img, err := format.decode(io.MultiReader(&lead, parts))
	if err != nil {
		return nil, source.fault(name, format.name, err)
	}
	p := fromImage(img, gray)
	p.Orientation, p.Notes = parts.orientation, parts.notes
	p.orient()
	return p, nil
}

// errorReader keeps the error of a reader, since decoders return it in the same way as their own.
type errorReader struct {
	r   io.Reader
	err error
}

func (w *errorReader) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// fault turns the error of a decoder into an Error.
func (w *errorReader) fault(name, format string, err error) *Error {
	var p png.UnsupportedError
	var j jpeg.UnsupportedError
	switch {
	case w.err != nil:
		return unreadable(name, w.err)
	case errors.As(err, &p), errors.As(err, &j):
		return &Error{File: name, What: "this form of " + format + " cannot be read",
			Fix: "save it as a PNG or JPEG with 8 bits per channel", Err: err}
	}
	return &Error{File: name, What: "the " + format + " is damaged or incomplete", Fix: "copy or save it again",
		Err: err}
}

func unreadable(name string, err error) *Error {
	return &Error{File: name, What: "cannot read the file", Fix: "check the path, its permissions and its device",
		Err: wholefile.Cause(err)}
}
