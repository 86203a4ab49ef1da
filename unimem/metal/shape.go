package metal

import "fmt"

// maxSide is the largest width or height of a 2D texture in pixels, on every GPU of Apple silicon. Source: Metal
// Feature Set Tables, "Maximum 2D texture width and height".
const maxSide = 16384

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

// check refuses a Shape that does not fit the plane. Metal may abort the process for it.
func (s Shape) check(p plane) error {
	bytes := formats[s.Format].bytes
	switch {
	case bytes == 0:
		return shapeError(ErrFormat, "%v is not a format of this package", s.Format)
	case bytes != p.element:
		return shapeError(ErrFormat, "%v has %d bytes, an element of the surface has %d: on a flat surface use an R8 format,"+
			" or make the texture of a Buffer with newTextureWithDescriptor:offset:bytesPerRow:", s.Format, bytes, p.element)
	case s.Width < 1 || s.Height < 1 || s.Width > min(p.width, maxSide) || s.Height > min(p.height, maxSide):
		return shapeError(ErrShape, "%d x %d pixels: give 1 x 1 to %d x %d", s.Width, s.Height, min(p.width, maxSide),
			min(p.height, maxSide))
	case p.row < p.width*p.element:
		return shapeError(ErrShape, "the surface has %d elements of %d bytes in a row of %d bytes", p.width, p.element,
			p.row)
	}
	return nil
}

func shapeError(err error, format string, args ...any) error {
	return newError("texture", err, "", fmt.Sprintf(format, args...))
}
