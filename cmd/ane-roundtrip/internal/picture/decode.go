package picture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"os"

	"github.com/anekit/anekit/internal/wholefile"
)

// Limits of a picture. An axis of a tensor has at most 16384 elements in the
// engine, two of which are the replicated edges.
const (
	MaxSide   = 16384 - 2
	MaxPixels = 64 << 20
)

// maxMetadata bounds what may precede the size in a JPEG: 255 parts of a colour
// profile at 64 KiB each (ICC.1, annex B.4) and as much of other data.
const maxMetadata = 32 << 20

// Open reads a picture from a file. A pipe is waited for. Errors are of type
// *Error.
func Open(path string) (*Picture, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	return ReadOpen(f, path)
}

// ReadOpen reads a picture from an open file, which may be a pipe; name is for
// errors, which are of type *Error.
func ReadOpen(f *os.File, name string) (*Picture, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(name, err)
	}
	if info.IsDir() {
		return nil, &Error{File: name, What: "this is a folder", Fix: "name a PNG or JPEG file"}
	}
	return Decode(f, name)
}

// Decode reads a picture from r; name is for errors, which are of type *Error.
// What follows the picture is ignored. An error of r ends the work and is wrapped.
func Decode(r io.Reader, name string) (*Picture, error) { return decode(r, name, MaxPixels) }

// decode does the work of Decode with a limit of its own for the area.
func decode(r io.Reader, name string, maxPixels int) (*Picture, error) {
	source := &watched{r: r}
	in := bufio.NewReaderSize(source, 64<<10)
	start, err := head(in)
	if err != nil {
		return nil, unreadable(name, err)
	}
	format, gray, other := formatOf(start)
	if other != "" {
		return nil, &Error{File: name, What: other, Fix: "give a PNG or JPEG file"}
	}
	var seen bytes.Buffer // what the decoder must see again
	config, err := format.config(io.TeeReader(io.LimitReader(in, maxMetadata), &seen))
	if err != nil {
		return nil, source.blame(name, format.name, err)
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
	parts := newWatcher(format.name == "PNG")
	img, err := format.decode(io.TeeReader(io.MultiReader(&seen, in), parts))
	if err != nil {
		return nil, source.blame(name, format.name, err)
	}
	p := fromImage(img, gray)
	p.meant(parts.parts)
	return p, nil
}

// watched remembers the fault of a reader, which decoders mix with their own.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// blame makes an Error of what a decoder says.
func (w *watched) blame(name, format string, err error) *Error {
	var p png.UnsupportedError
	var j jpeg.UnsupportedError
	switch {
	case w.err != nil:
		return unreadable(name, w.err)
	case errors.As(err, &p), errors.As(err, &j):
		return &Error{File: name, What: "this form of " + format + " cannot be read",
			Fix: "save it as a PNG, or as a JPEG of 8 bits", Err: err}
	}
	return &Error{File: name, What: "the " + format + " is damaged or incomplete", Fix: "copy or save it again",
		Err: err}
}

func unreadable(name string, err error) *Error {
	return &Error{File: name, What: "cannot read the file", Fix: "check the path, its permissions and its device",
		Err: wholefile.Cause(err)}
}
