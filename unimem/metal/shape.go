package metal

import "fmt"

// MaxSide is the largest width or height of a 2D texture in pixels, on every GPU of Apple
// silicon (Metal Feature Set Tables, "Maximum 2D texture width and height").
const MaxSide = 16384

// Shape is a 2D texture over one plane of a surface: its top left Width by Height pixels.
type Shape struct {
	Width, Height int // in pixels
	Format        Format
	Plane         int  // plane of a surface with several, such as a video frame; otherwise 0
	Write         bool // shaders may write as well as read
}

// plane is the geometry of a plane of a surface.
type plane struct {
	width, height int // in elements
	element       int // bytes of an element
	row           int // bytes from one row to the next
}

// flat is the geometry of the surface of a Block that unimem opened: one row of bytes.
func flat(size int) plane { return plane{width: size, height: 1, element: 1, row: size} }

// Flat returns the largest texture of a Block of size bytes that unimem opened. Its surface is
// flat, one row of one-byte elements, and a pixel is an element, so that a texture is one row
// of at most MaxSide one-byte pixels: the Block's first 16 KiB. The error is ErrFormat for
// wider formats, ErrShape for a size below 1.
//
// For several rows or wider pixels make a texture of a Buffer instead, by MTLBuffer's
// newTextureWithDescriptor:offset:bytesPerRow:, which accepts any row length that is a
// multiple of minimumLinearTextureAlignmentForPixelFormat:.
func Flat(size int, f Format) (Shape, error) {
	s := Shape{Width: min(size, MaxSide), Height: 1, Format: f}
	if err := s.check(flat(size)); err != nil {
		return Shape{}, err
	}
	return s, nil
}

// check refuses a Shape that does not fit the plane. Metal may abort the process for it.
func (s Shape) check(p plane) error {
	bytes := s.Format.Bytes()
	switch {
	case bytes == 0:
		return shapeError(ErrFormat, "%v is not a format of this package", s.Format)
	case bytes != p.element && p.height == 1 && p.element == 1:
		return shapeError(ErrFormat, "%v has %d bytes, an element of a flat surface has 1: "+
			"use an R8 format, or make the texture of a Buffer with newTextureWithDescriptor:offset:bytesPerRow:",
			s.Format, bytes)
	case bytes != p.element:
		return shapeError(ErrFormat, "%v has %d bytes, an element of the surface has %d", s.Format, bytes, p.element)
	case s.Width < 1 || s.Height < 1:
		return shapeError(ErrShape, "%d x %d pixels: both are at least 1", s.Width, s.Height)
	case s.Width > MaxSide || s.Height > MaxSide:
		return shapeError(ErrShape, "%d x %d pixels, a side has at most %d", s.Width, s.Height, MaxSide)
	case s.Width > p.width || s.Height > p.height:
		return shapeError(ErrShape, "%d x %d pixels, the surface has %d x %d", s.Width, s.Height, p.width, p.height)
	case p.row < p.width*p.element:
		return shapeError(ErrShape, "the surface has %d elements of %d bytes in a row of %d bytes", p.width, p.element,
			p.row)
	}
	return nil
}

func shapeError(err error, format string, args ...any) error {
	return &Error{Op: "texture", Err: err, Hint: fmt.Sprintf(format, args...)}
}
